/** Files and addresses that a hub finds at its start, in every wrong state: a clear code, and nothing changed by the attempt. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRollcallError } from '@rollcall/core/errors';
import { type HubStatusAnswer, routes } from '@rollcall/wire';
import SqliteDatabase from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { initHub, type RunOptions, startHub } from './main.ts';

const root = mkdtempSync(join(tmpdir(), 'rc-files-'));
const made = join(root, 'made');
let work = '';
const umask = process.umask();

beforeAll(async () => {
  await initHub({ dir: join(made, 'hub'), kekFile: join(made, 'kek'), listen: '127.0.0.1:0' }).finally(() =>
    process.umask(umask),
  );
});
afterAll(() => rmSync(root, { recursive: true }));
let round = 0;
beforeEach(() => {
  round += 1;
  work = join(root, String(round));
  cpSync(made, work, { recursive: true });
  chmodSync(join(work, 'hub'), 0o700);
});

const database = () => join(work, 'hub', 'hub.db');
const kek = () => join(work, 'kek');

/** `done`, or code and details of the refusal. */
async function start(options: Partial<RunOptions> = {}): Promise<{ code: string; details: Record<string, unknown> }> {
  try {
    const at = { dir: join(work, 'hub'), kekFile: kek(), metrics: '127.0.0.1:0', logLevel: 'silent' } as const;
    const hub = await startHub({ ...at, ...options }).finally(() => process.umask(umask));
    await hub.stop();
    return { code: 'done', details: {} };
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    return { code: error.code, details: { ...error.details } };
  }
}

function inItsPlace(file: string, make: () => void): void {
  rmSync(file);
  make();
}

function readStatus(socketPath: string): Promise<HubStatusAnswer> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path: routes.hubStatus.path, agent: false }, (answer) => {
      answer
        .toArray()
        .then((chunks) => resolve(JSON.parse(Buffer.concat(chunks).toString()) as HubStatusAnswer), reject);
    }).once('error', reject);
  });
}

/** Every row of every table. */
function dump(file = database()): string {
  const db = new SqliteDatabase(file, { readonly: true });
  try {
    const tables = db.prepare(`select name from sqlite_master where type = 'table' order by name`).pluck().all();
    return JSON.stringify(
      tables.map((table) => [table, db.prepare(`select * from ${String(table)} order by 1`).all()]),
    );
  } finally {
    db.close();
  }
}

describe('the key-encryption key', () => {
  const cases: readonly [string, string, (file: string) => void][] = [
    ['that is not there', 'kek_unreadable', (file) => rmSync(file)],
    ['that others may read', 'kek_loose_mode', (file) => chmodSync(file, 0o640)],
    ['that is a directory', 'kek_unreadable', (file) => inItsPlace(file, () => mkdirSync(file))],
    ['that never ends', 'kek_unreadable', (file) => inItsPlace(file, () => symlinkSync('/dev/zero', file))],
    ['that is too large', 'kek_unreadable', (file) => truncateSync(file, 100_000)],
    ['that is empty', 'kek_unreadable', (file) => truncateSync(file, 0)],
    ['that is cut', 'kek_unreadable', (file) => truncateSync(file, 40)],
    ['that holds control characters', 'kek_unreadable', (file) => writeFileSync(file, '\0'.repeat(43))],
    ['that an editor put a mark on', 'byte_order_mark', (file) => writeFileSync(file, `\ufeff${readFileSync(file)}`)],
    ['of another hub', 'kek_wrong', (file) => writeFileSync(file, `${Buffer.alloc(32, 7).toString('base64url')}\n`)],
  ];
  it.each(cases)('%s: %s, and nothing is changed', async (_what, code, damage) => {
    const key = readFileSync(kek());
    const before = dump();
    damage(kek());
    const refused = await start();
    expect(refused.code).toBe(code);
    expect(JSON.stringify(refused.details)).not.toContain(key.toString().trim());
    expect(dump()).toBe(before);
    rmSync(kek(), { recursive: true, force: true });
    writeFileSync(kek(), key, { mode: 0o600 });
    expect((await start()).code).toBe('done');
  });

  it('of another hub is told from the right one by fingerprints, and is not overwritten', async () => {
    const db = new SqliteDatabase(database(), { readonly: true });
    const expected = db.prepare(`select value from meta where key = 'kek_fingerprint'`).pluck().get();
    db.close();
    const wrong = `${Buffer.alloc(32, 7).toString('base64url')}\n`;
    writeFileSync(kek(), wrong);
    expect(await start()).toMatchObject({
      code: 'kek_wrong',
      details: { expected, found: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(readFileSync(kek(), 'utf8')).toBe(wrong);
  });
});

describe('the database', () => {
  const sql = (text: string) => () => {
    const db = new SqliteDatabase(database());
    db.exec(text);
    db.close();
  };
  const pageOfMeta = () => {
    const db = new SqliteDatabase(database(), { readonly: true });
    const root = Number(db.prepare(`select rootpage from sqlite_master where name = 'meta'`).pluck().get());
    const pageSize = Number(db.pragma('page_size', { simple: true }));
    db.close();
    return { root, pageSize };
  };
  it.each<[string, string, () => void]>([
    ['that is not there', 'hub_missing', () => rmSync(database())],
    ['that is a directory', 'database_unreadable', () => inItsPlace(database(), () => mkdirSync(database()))],
    ['that is none', 'database_unreadable', () => writeFileSync(database(), 'x'.repeat(10_000))],
    ['that is empty', 'hub_missing', () => truncateSync(database(), 0)],
    ['that lost its second half', 'database_unreadable', () => truncateSync(database(), statSync(database()).size / 2)],
    ['of a newer program', 'schema_newer', sql('update schema_version set version = 999')],
    ['without its hub root', 'store_unreadable', sql(`delete from meta where key = 'hub_root'`)],
    ['whose hub key was replaced', 'store_unreadable', sql(`update hub_keys set serial = serial + 1`)],
    ['whose authority was replaced', 'store_unreadable', sql(`update authorities set certificate = x'00'`)],
  ])('%s: %s', async (_what, code, damage) => {
    const good = readFileSync(database());
    damage();
    const isFile = statSync(database(), { throwIfNoEntry: false })?.isFile() === true;
    const damaged = isFile ? readFileSync(database()) : undefined;
    expect((await start()).code).toBe(code);
    // What a person is to mend is as it was; a format that SQLite can read may have been told to keep a journal.
    if (damaged !== undefined && code === 'database_unreadable') expect(readFileSync(database())).toEqual(damaged);
    rmSync(join(work, 'hub'), { recursive: true });
    cpSync(join(made, 'hub'), join(work, 'hub'), { recursive: true });
    writeFileSync(database(), good);
    expect((await start()).code).toBe('done');
  });

  it('that cannot be looked at is not absent', async () => {
    const good = readFileSync(database());
    inItsPlace(database(), () => symlinkSync('hub.db', database()));
    expect(await start()).toMatchObject({ code: 'file_unreadable', details: { reason: 'ELOOP' } });
    inItsPlace(database(), () => undefined);
    expect((await start()).code).toBe('hub_missing');
    writeFileSync(database(), good);
    expect((await start()).code).toBe('done');
  });

  it('whose pages are damaged is not absent either', async () => {
    const good = readFileSync(database());
    sql('pragma wal_checkpoint(truncate)')();
    const damaged = readFileSync(database());
    const { pageSize, root } = pageOfMeta();
    damaged.fill(0xff, (root - 1) * pageSize, root * pageSize);
    writeFileSync(database(), damaged);
    expect((await start()).code).toBe('database_unreadable');
    writeFileSync(database(), good);
    expect((await start()).code).toBe('done');
  });

  it('that another hub holds is refused, and is let go by a hub that could not start', async () => {
    const held = await startHub({ dir: join(work, 'hub'), kekFile: kek(), metrics: '127.0.0.1:0', logLevel: 'silent' });
    process.umask(umask);
    const before = dump();
    expect((await start()).code).toBe('database_in_use');
    expect(dump()).toBe(before);
    await held.stop();
    expect((await start({ listen: 'nowhere' })).code).toBe('malformed_address');
    expect((await start()).code).toBe('done');
  });
});

describe('an address', () => {
  it('to listen on that is every address is not what hosts are told: that is what init was told', async () => {
    const dir = join(work, 'named');
    const init = (listen: string) =>
      initHub({ dir, kekFile: join(work, 'named.kek'), listen }).finally(() => process.umask(umask));
    const told = async (listen: string) => {
      const at = { dir, kekFile: join(work, 'named.kek'), metrics: '127.0.0.1:0', logLevel: 'silent' } as const;
      const hub = await startHub({ ...at, listen }).finally(() => process.umask(umask));
      try {
        return (await readStatus(hub.operatorSocket)).hubRoot.hubs;
      } finally {
        await hub.stop();
      }
    };
    expect(await init('0.0.0.0:7443').catch((error: unknown) => (error as { readonly code: string }).code)).toBe(
      'malformed_address',
    );
    expect((await init('hub.example:7443')).hubRoot.hubs).toEqual(['https://hub.example:7443']);
    expect(await told('0.0.0.0:0')).toEqual(['https://hub.example:7443']);
    expect(await told('127.0.0.1:0')).toEqual(['https://127.0.0.1:0']);
  });

  const occupy = () =>
    new Promise<{ server: Server; address: string }>((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        resolve({ server, address: `127.0.0.1:${(server.address() as AddressInfo).port}` });
      });
    });
  it.each(['listen', 'metrics', 'operators'] as const)(
    'for %s that is taken: nothing of the hub stays behind',
    async (name) => {
      const { server, address } = await occupy();
      const before = dump();
      expect(await start({ [name]: address })).toMatchObject({
        code: 'listen_failed',
        details: { reason: 'EADDRINUSE' },
      });
      expect(dump()).toBe(before);
      await new Promise((resolve) => server.close(resolve));
      expect((await start({ [name]: address })).code).toBe('done');
    },
  );
});
