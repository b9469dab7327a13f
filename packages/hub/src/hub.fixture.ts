/** For tests: a whole hub in this process over real SQLite in a temporary file, a clock under the test's hand, seeded random bytes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeBase64url } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { SecretBytes } from '@rollcall/core/keys';
import type { Log, LogFields, Random } from '@rollcall/core/ports';
import { createHubKey, createHubRoot } from '@rollcall/core/seal';
import { FakeClock, seededRandom } from '@rollcall/core/testing';
import { type Authority, createAuthority } from '@rollcall/x509';
import SqliteDatabase from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { generateP256KeyPair } from './adapters/random.ts';
import { openSqlite } from './adapters/sqlite.ts';
import { createChallenges } from './challenges.ts';
import { createCounts } from './counts.ts';
import type { Hub, Settings } from './hub.ts';
import { createHubClock, encodeHubTime, NO_FLOOR } from './hub-clock.ts';
import { createVault, type Vault } from './kek/vault.ts';
import { createLiveGenerations } from './live-generations.ts';
import { createOldHits } from './old-hits.ts';
import { createSecret } from './operations/create-secret.ts';
import { createRoll } from './roll.ts';
import { createStatements } from './statements.ts';
import { type Actor, listAudit } from './store/audit.ts';
import { insertHubKey, readHubKey } from './store/hub-keys.ts';
import { readMeta, writeMeta } from './store/meta.ts';
import { migrate } from './store/migrate.ts';
import type { Db } from './store/schema.ts';
import { createTokenParts } from './token-parts.ts';
import type { AskVerifier } from './token-probes.ts';

export const operator: Actor = { id: 'ada', kind: 'operator', rung: 'unix-socket', verified: false };
export const START_MS = Date.UTC(2026, 2, 1, 12);
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export interface TestHub extends Hub {
  readonly wall: FakeClock;
  readonly file: string;
  /** Every line that was logged, with its fields. */
  readonly logged: readonly string[];
  /** Runs SQL beside the hub, on a connection of its own: as whoever can write the database file. */
  tamper(sql: string, ...parameters: unknown[]): void;
  /** Stops this hub, and starts another one on its file; with its clocks gone on, or others. */
  restart(clock?: FakeClock): Promise<TestHub>;
  close(): Promise<void>;
}

export interface TestHubOptions {
  readonly settings?: Partial<Settings>;
  /** How long the authority of its fleet lives. */
  readonly authorityLifeMs?: number;
  /** `false`: no master yet. */
  readonly master?: boolean;
  /** What verifiers of shared tokens answer; without it none can be reached. */
  readonly ask?: AskVerifier;
}

const random: Random = seededRandom('hub.fixture');

export function createTestVault(seed: string): Vault {
  return createVault(new SecretBytes('kek', seededRandom(seed)(32)), random);
}

/** A database of the present schema in a temporary file; both are gone when the test is over. */
export async function createTestDatabase(): Promise<{ db: Db; file: string; close(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'rollcall-hub-'));
  const file = join(dir, 'hub.db');
  const { db, close } = await openSqlite(file, { create: true });
  await migrate(db);
  const closeOnce = once(close);
  onTestFinished(async () => {
    await closeOnce();
    rmSync(dir, { recursive: true, force: true });
  });
  return { db, file, close: closeOnce };
}

export async function createTestHub({
  settings = {},
  master = true,
  authorityLifeMs = 3_650 * DAY_MS,
  ask,
}: TestHubOptions = {}): Promise<TestHub> {
  const { db, file, close } = await createTestDatabase();
  const vault = createTestVault('kek');
  const root = createHubRoot(random);
  await db.transaction().execute(async (tx) => {
    await insertHubKey(tx, vault, createHubKey(random, root, 1));
    await writeMeta(tx, vault, 'hub_root', encodeBase64url(root.public));
    await writeMeta(tx, vault, 'clock', encodeHubTime(NO_FLOOR));
    await writeMeta(tx, vault, 'epoch', '1');
  });
  const authority = createAuthority({
    trustDomain: 'fleet.example',
    commonName: 'fleet.example fleet authority',
    generateKeyPair: generateP256KeyPair,
    random,
    // Older than the hub, so that a certificate can be valid early.
    nowMs: START_MS - DAY_MS,
    lifeMs: DAY_MS + authorityLifeMs,
  });
  const hub = await assemble({
    authority,
    db,
    file,
    close,
    vault,
    wall: new FakeClock(START_MS),
    settings,
    root: root.public,
    ask,
  });
  if (master) await createSecret(hub, { name: 'master' }, operator);
  return hub;
}

interface Parts {
  readonly db: Db;
  readonly file: string;
  readonly close: () => Promise<void>;
  readonly vault: Vault;
  readonly wall: FakeClock;
  readonly settings: Partial<Settings>;
  readonly root: Uint8Array;
  readonly ask?: AskVerifier | undefined;
  readonly authority: Authority;
}

async function assemble(parts: Parts): Promise<TestHub> {
  const { db, file, close, vault, wall, settings, root, authority } = parts;
  const clock = await createHubClock(db, vault, wall);
  const hubKey = await readHubKey(db, vault);
  const generations = createLiveGenerations({ db, vault, clock });
  await generations.reload().catch(() => undefined);
  const spki = random(32);
  const logged: string[] = [];
  const allSettings: Settings = {
    beatMs: 10_000,
    verifyWindowMs: 7 * DAY_MS,
    quietWindowMs: DAY_MS,
    firstUseMinAgeMs: DAY_MS,
    ...settings,
  };
  const hub: TestHub = {
    db,
    vault,
    clock,
    random,
    log: listTo(logged),
    roll: await createRoll({ db, vault, clock }),
    generations,
    hubKey,
    authority,
    challenges: createChallenges({ vault, random }),
    statements: createStatements({ clock, hubKey, epoch: () => hub.epoch, spki, generations, settings: allSettings }),
    counts: createCounts(),
    oldHits: createOldHits(8),
    ...(await createTokenParts({ db, vault, clock, random })),
    ask: parts.ask ?? { replica: unreachable, host: unreachable },
    settings: allSettings,
    epoch: Number(await readMeta(db, vault, 'epoch')),
    identity: {
      trustDomain: 'fleet.example',
      hubTrust: { trustDomain: 'fleet.example', root, spki: [spki], hubs: ['https://127.0.0.1:7443'] },
      bundle: { keys: [], spiffe_sequence: 1, spiffe_refresh_hint: 300 },
    },
    nudgeRotation: () => undefined,
    wall,
    file,
    logged,
    tamper: (sql, ...parameters) => {
      const beside = new SqliteDatabase(file);
      try {
        beside.pragma('foreign_keys = OFF');
        if (parameters.length === 0) beside.exec(sql);
        else beside.prepare(sql).run(...parameters);
      } finally {
        beside.close();
      }
    },
    restart: async (next = wall) => {
      await close();
      const opened = await openSqlite(file, { create: false });
      const closeOnce = once(opened.close);
      onTestFinished(closeOnce);
      return assemble({ ...parts, db: opened.db, close: closeOnce, wall: next });
    },
    close,
  };
  return hub;
}

/** The actions of the audit, oldest first, each with its target. */
export async function auditOf(hub: Pick<Hub, 'db'>): Promise<readonly string[]> {
  return (await listAudit(hub.db, 0, 10_000)).map(({ action, target, outcome }) => `${action} ${target} ${outcome}`);
}

/** The code of the error that `act` fails with; `done` when it does not fail. */
export async function codeOf(act: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof act === 'function' ? act() : act);
    return 'done';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

async function unreachable(): Promise<never> {
  throw new RollcallError('hub_unreachable');
}

function once(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= close();
    return closing;
  };
}

function listTo(lines: string[]): Log {
  const line = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
