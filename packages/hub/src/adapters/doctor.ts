/**
 * Looks at a hub from outside, for `rollcall doctor`. Nothing is changed: SQLite makes files beside a database in WAL even
 * for a reader, so that of a stopped hub a copy is read, which is gone afterwards.
 */
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseHubRootFile } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { rungs } from '@rollcall/core/rungs';
import type { DecidedRung, FileFact, HubRootFileJson, HubStatusAnswer } from '@rollcall/wire';
import { parseCertificate } from '@rollcall/x509';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { ObservedHub, StoredFacts } from '../doctor/observed-hub.ts';
import type { HubPaths } from '../hub-paths.ts';
import { toHubRootJson } from '../hub-status.ts';
import { createVault, type Vault } from '../kek/vault.ts';
import { MASTER } from '../live-generations.ts';
import { listAssignments } from '../store/assignments.ts';
import { listEnrolmentTokens } from '../store/enrolment-tokens.ts';
import { listGenerations } from '../store/generations.ts';
import { listHostTokens } from '../store/host-tokens.ts';
import { listRoll } from '../store/hosts.ts';
import { readAuthority } from '../store/hub-keys.ts';
import { findKekFingerprint, readMeta } from '../store/meta.ts';
import { schemaVersion } from '../store/migrate.ts';
import { listObserved, listPendings, listPins } from '../store/pins.ts';
import { FLEET, listRungPolicies } from '../store/rung-rules.ts';
import type { Db, Schema } from '../store/schema.ts';
import { toRungRow } from '../views/rungs.ts';
import { readKekContent } from './files.ts';
import { systemRandom } from './random.ts';

export async function observeHub(dir: string, paths: HubPaths, nowMs: number): Promise<ObservedHub> {
  const vault = openVault(paths.kek);
  const isLocked = existsSync(dir) && isHeld(`${paths.database}.lock`);
  return {
    dir,
    kekPath: paths.kek,
    offlineKeyPath: paths.offlineKey,
    uid: process.getuid?.() ?? 0,
    directory: factOf(dir),
    directoryUnwritable: whyUnwritable(dir),
    database: factOf(paths.database),
    kek: factOf(paths.kek),
    offlineKey: factOf(paths.offlineKey),
    socket: factOf(paths.operatorSocket),
    hubRootFile: factOf(paths.hubRoot),
    socketPathBytes: Buffer.byteLength(paths.operatorSocket),
    freeBytes: freeBytes(dir),
    nowMs,
    kekFingerprint: vault?.fingerprint ?? null,
    hubRoot: readHubRoot(paths.hubRoot),
    isLocked,
    stored: await readStored(paths.database, isLocked, vault),
    running: await askStatus(paths.operatorSocket),
  };
}

function factOf(path: string): FileFact {
  try {
    const stat = statSync(path);
    const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSocket() ? 'socket' : 'other';
    return { state: 'there', kind, mode: stat.mode & 0o777, uid: stat.uid };
  } catch (error) {
    const cause = codeOf(error);
    return cause === 'ENOENT' || cause === 'ENOTDIR' ? { state: 'absent' } : { state: 'unknown', cause };
  }
}

function whyUnwritable(dir: string): string | null {
  try {
    accessSync(dir, constants.W_OK);
    return null;
  } catch (error) {
    return codeOf(error);
  }
}

function freeBytes(dir: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Without a look at its mode, which is a finding of its own. */
function openVault(path: string): Vault | undefined {
  try {
    return createVault(readKekContent(path), systemRandom);
  } catch {
    return undefined;
  }
}

function readHubRoot(path: string): HubRootFileJson | null {
  try {
    return toHubRootJson(parseHubRootFile(readFileSync(path)));
  } catch {
    return null;
  }
}

/** A hub holds its lock exclusively, so that not even a reader gets in. */
function isHeld(lock: string): boolean {
  let database: SqliteDatabase.Database | undefined;
  try {
    database = new SqliteDatabase(lock, { readonly: true, fileMustExist: true, timeout: 0 });
    database.prepare('select count(*) from sqlite_master').get();
    return false;
  } catch (error) {
    return codeOf(error) === 'SQLITE_BUSY';
  } finally {
    database?.close();
  }
}

async function readStored(file: string, isRunning: boolean, vault: Vault | undefined): Promise<ObservedHub['stored']> {
  if (!existsSync(file)) return { state: 'absent' };
  // What SQLite keeps beside the file of a running hub is there already; of a stopped one it would have to be made.
  const copy = isRunning ? undefined : mkdtempSync(join(tmpdir(), 'rollcall-doctor-'));
  try {
    return await readDatabase(copy === undefined ? file : copyInto(copy, file), vault);
  } catch (error) {
    return { state: 'unreadable', cause: codeOf(error) };
  } finally {
    if (copy !== undefined) rmSync(copy, { recursive: true, force: true });
  }
}

function copyInto(directory: string, file: string): string {
  const copied = join(directory, 'hub.db');
  copyFileSync(file, copied);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copied}-wal`);
  return copied;
}

async function readDatabase(file: string, vault: Vault | undefined): Promise<StoredFacts> {
  const sqlite = new SqliteDatabase(file, { readonly: true, fileMustExist: true });
  const db: Db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: sqlite }) });
  try {
    const { version } = sqlite.prepare('select version from schema_version').get() as { version: number };
    const kekFingerprint = (await findKekFingerprint(db)) ?? null;
    const canRead = version === schemaVersion && vault !== undefined && vault.fingerprint === kekFingerprint;
    const inside = canRead ? await readInside(db, vault) : null;
    return { state: 'read', schema: version, knownSchema: schemaVersion, kekFingerprint, inside };
  } finally {
    await db.destroy();
  }
}

async function readInside(db: Db, vault: Vault): Promise<NonNullable<StoredFacts['inside']>> {
  const byHost = [
    ['hosts', new Map((await listRoll(db, vault)).map((host) => [host.id, host.status]))],
    ['pins', await listPins(db, vault)],
    ['pending_pins', await listPendings(db, vault)],
    ['observed_keys', await listObserved(db, vault)],
    ['assignments', await listAssignments(db, vault, MASTER)],
    ['enrolment_tokens', await listEnrolmentTokens(db, vault)],
    ['host_tokens', await readHostTokens(db, vault)],
  ] as const;
  const unreadable = byHost.map(([table, rows]) => [table, namesOf(rows)] as const);
  const generations = await listGenerations(db, vault, MASTER).then(
    () => 0,
    () => 1,
  );
  const { floorMs } = JSON.parse(await readMeta(db, vault, 'clock')) as { floorMs: number };
  return {
    hubRoot: await readMeta(db, vault, 'hub_root'),
    floorMs,
    authorityEndsAtMs: parseCertificate((await readAuthority(db, vault)).certificate).notAfterMs,
    unreadable: Object.fromEntries([
      ...unreadable.map(([table, names]) => [table, names.length]),
      ['generations', generations],
    ]),
    unreadableHosts: [...new Set(unreadable.flatMap(([, names]) => names))].sort(),
    decidedRungs: await readDecidedRungs(db, vault),
  };
}

/** Of each host whether its tokens can be read. */
async function readHostTokens(db: Db, vault: Vault): Promise<ReadonlyMap<string, 'read' | 'unreadable'>> {
  const tokens = await listHostTokens(db, vault);
  return new Map(
    [...tokens].map(([host, stored]) => [
      host,
      stored.some(({ token }) => token === 'unreadable') ? 'unreadable' : 'read',
    ]),
  );
}

async function readDecidedRungs(db: Db, vault: Vault): Promise<DecidedRung[]> {
  const policies = await listRungPolicies(db, vault);
  return [...policies].flatMap(([scope, policy]) =>
    rungs
      .filter((rung) => policy[rung] !== undefined)
      .map((rung) => {
        const { accepted, reason } = toRungRow(rung, policy, {});
        return { whose: scope === FLEET ? 'the fleet' : scope, rung, accepted, reason };
      }),
  );
}

function namesOf(rows: ReadonlyMap<string, unknown>): string[] {
  return [...rows].filter(([, row]) => row === 'unreadable').map(([host]) => host);
}

/** What the hub on the socket says of itself; whoever may open the socket may ask. */
function askStatus(socketPath: string): Promise<HubStatusAnswer | null> {
  if (!existsSync(socketPath) || Buffer.byteLength(socketPath) > limits.unixSocketPathBytes)
    return Promise.resolve(null);
  return new Promise((resolve) => {
    const asked = request({ socketPath, path: '/v1/status', timeout: limits.headersTimeoutMs }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', () => resolve(null));
      answer.on('end', () => resolve(answer.statusCode === 200 ? parse(Buffer.concat(parts)) : null));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(null));
    asked.end();
  });
}

function parse(bytes: Uint8Array): HubStatusAnswer | null {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as HubStatusAnswer;
  } catch {
    return null;
  }
}

function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: string; name?: string };
  return code ?? name ?? 'unknown';
}
