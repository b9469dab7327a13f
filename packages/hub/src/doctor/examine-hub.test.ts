/** Misconfigurations that are seeded into a real data directory, each found with its remedy; and that a doctor leaves no trace. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Examination } from '@rollcall/wire';
import SqliteDatabase from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examineHub, initHub, startHub } from '../main.ts';
import { schemaVersion } from '../store/migrate.ts';

let parent: string;
let dir: string;
const kek = () => `${dir}.kek`;

beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), 'rollcall-doctor-'));
  dir = join(parent, 'hub');
  await initHub({ dir, listen: '127.0.0.1:0' });
  // The one thing that is to be done after every init.
  renameSync(`${dir}.offline-root-key`, join(parent, 'taken-away'));
});

afterEach(() => rmSync(parent, { recursive: true }));

const examine = (options: { kekFile?: string } = {}) => examineHub({ dir, ...options });
const codes = ({ findings }: Examination) => findings.map(({ code }) => code);

function sql(text: string): void {
  const database = new SqliteDatabase(join(dir, 'hub.db'));
  database.exec(text);
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

/** Another hub beside this one, for its files. */
async function otherHub(): Promise<string> {
  const other = join(parent, 'other');
  await initHub({ dir: other, listen: '127.0.0.1:0' });
  return other;
}

/** Names, sizes and times of everything below. */
function trace(): string {
  const entries = readdirSync(parent, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );
  return entries
    .sort()
    .map((path) => {
      const { mode, size, mtimeMs } = statSync(path);
      return `${path} ${mode} ${size} ${mtimeMs}`;
    })
    .join('\n');
}

describe('a healthy hub', () => {
  it('has no finding, stopped or running, and is left as it was', async () => {
    const before = trace();
    expect(await examine()).toEqual({ part: 'hub', place: dir, isRunning: false, findings: [] });
    expect(trace()).toBe(before);
    const running = await startHub({ dir, metrics: '127.0.0.1:0', logLevel: 'silent' });
    try {
      expect(await examine()).toEqual({ part: 'hub', place: dir, isRunning: true, findings: [] });
    } finally {
      await running.stop();
    }
    expect(await examine()).toMatchObject({ isRunning: false, findings: [] });
    expect(readdirSync(dir).sort()).toEqual(['hub-root.json', 'hub.db', 'hub.db.lock']);
  });

  it('is read with what its journal holds, when it was killed', async () => {
    const beside = new SqliteDatabase(join(dir, 'hub.db'));
    beside.exec('update schema_version set version = 999');
    // What a kill -9 leaves: a journal that nobody has brought home.
    for (const name of ['hub.db', 'hub.db-wal']) copyFileSync(join(dir, name), join(parent, name));
    beside.close();
    for (const name of ['hub.db', 'hub.db-wal']) copyFileSync(join(parent, name), join(dir, name));
    const names = readdirSync(dir).sort();
    expect(codes(await examine())).toEqual(['schema_newer']);
    expect(readdirSync(dir).sort()).toEqual(names);
  });
});

interface Seed {
  readonly code: string;
  readonly seed: () => void | Promise<void>;
  readonly remedy: RegExp;
  readonly kekFile?: () => string;
  /** Whether the remedy can be typed here, and mends it. */
  readonly mends?: true;
}

const seeds: readonly Seed[] = [
  {
    code: 'data_dir_missing',
    seed: () => rmSync(dir, { recursive: true }),
    remedy: /^rollcall hub init --dir \S+hub$/,
  },
  { code: 'data_dir_loose_mode', seed: () => chmodSync(dir, 0o750), remedy: /^chmod 700 /, mends: true },
  { code: 'data_dir_wrong_owner', seed: () => chownSync(dir, 65_534, 0), remedy: /^chown \d+ /, mends: true },
  { code: 'kek_missing', seed: () => renameSync(kek(), `${kek()}-gone`), remedy: /--kek-file FILE$/ },
  { code: 'kek_loose_mode', seed: () => chmodSync(kek(), 0o644), remedy: /^chmod 600 \S+\.kek$/, mends: true },
  {
    code: 'kek_in_data_dir',
    seed: () => renameSync(kek(), join(dir, 'kek')),
    remedy: /^mv \S+\/kek \S+\.kek$/,
    kekFile: () => join(dir, 'kek'),
  },
  { code: 'kek_unreadable', seed: () => writeFileSync(kek(), 'short'), remedy: /^ls -l / },
  {
    code: 'kek_wrong',
    seed: async () => copyFileSync(`${await otherHub()}.kek`, kek()),
    remedy: /^rollcall doctor --dir \S+ --kek-file FILE$/,
  },
  {
    code: 'offline_key_present',
    seed: () => copyFileSync(join(parent, 'taken-away'), `${dir}.offline-root-key`),
    remedy: /^shred -u \S+offline-root-key/,
    mends: true,
  },
  { code: 'database_missing', seed: () => rmSync(join(dir, 'hub.db')), remedy: /^rollcall hub init/ },
  {
    code: 'database_loose_mode',
    seed: () => chmodSync(join(dir, 'hub.db'), 0o640),
    remedy: /^chmod 600 /,
    mends: true,
  },
  {
    code: 'database_unreadable',
    seed: () => writeFileSync(join(dir, 'hub.db'), 'x'.repeat(8_192)),
    remedy: /^ls -l .*head/,
  },
  {
    code: 'schema_newer',
    seed: () => sql(`update schema_version set version = ${schemaVersion + 1}`),
    remedy: /^npm install @rollcall/,
  },
  {
    code: 'schema_older',
    seed: () => sql(`update schema_version set version = ${schemaVersion - 1}`),
    remedy: /^cp -a \S+ \S+\.before-upgrade$/,
  },
  {
    code: 'rows_unreadable',
    seed: () =>
      sql(
        "insert into hosts (id, folded, status, reach, life, banned, added_at, mac) values ('x', 'x', 'active', 'pull', 1, 0, 0, x'00')",
      ),
    remedy: /^rollcall host reenrol x /,
  },
  {
    code: 'hub_root_mismatch',
    seed: async () => copyFileSync(join(await otherHub(), 'hub-root.json'), join(dir, 'hub-root.json')),
    remedy: /^rollcall hub status --json \| jq \.hubRoot/,
  },
  { code: 'hub_root_unreadable', seed: () => rmSync(join(dir, 'hub-root.json')), remedy: /^rollcall hub status/ },
];

describe('what is seeded', () => {
  it('is at least fifteen kinds', () => {
    expect(new Set(seeds.map(({ code }) => code)).size).toBeGreaterThanOrEqual(15);
  });

  // To give a directory away takes root.
  const possible = seeds.filter(({ code }) => code !== 'data_dir_wrong_owner' || process.getuid?.() === 0);

  it.each(possible)('$code is found, alone, with its remedy', async ({ code, seed, remedy, kekFile, mends }) => {
    await seed();
    const before = trace();
    const options = kekFile === undefined ? {} : { kekFile: kekFile() };
    const { findings } = await examine(options);
    expect(findings.map((finding) => finding.code)).toEqual([code]);
    expect(findings[0]?.remedy).toMatch(remedy);
    expect(findings[0]?.text).toMatch(/^[A-Z].{10,}[.:].*$/);
    expect(trace()).toBe(before);
    if (mends !== true) return;
    execFileSync('sh', ['-c', findings[0]?.remedy ?? 'false']);
    expect(codes(await examine(options))).toEqual([]);
  });

  it('is found all at once', async () => {
    chmodSync(dir, 0o755);
    chmodSync(kek(), 0o644);
    writeFileSync(`${dir}.offline-root-key`, '');
    sql('update schema_version set version = 999');
    expect(codes(await examine())).toEqual([
      'data_dir_loose_mode',
      'kek_loose_mode',
      'offline_key_present',
      'schema_newer',
    ]);
  });

  it('is a path that can be copied, whatever is in it', async () => {
    const odd = join(parent, "it's a hub");
    await initHub({ dir: odd, listen: '127.0.0.1:0' });
    rmSync(`${odd}.offline-root-key`);
    chmodSync(odd, 0o755);
    const { findings } = await examineHub({ dir: odd });
    execFileSync('sh', ['-c', findings[0]?.remedy ?? 'false']);
    expect(codes(await examineHub({ dir: odd }))).toEqual([]);
  });
});

describe('a hub that runs', () => {
  it('beside a hub-root file of another, or a socket that others may open, is told', async () => {
    const running = await startHub({ dir, metrics: '127.0.0.1:0', logLevel: 'silent' });
    try {
      chmodSync(join(dir, 'operator.sock'), 0o666);
      copyFileSync(join(await otherHub(), 'hub-root.json'), join(dir, 'hub-root.json'));
      const found = codes(await examine());
      expect(found).toContain('socket_loose_mode');
      expect(found).toContain('hub_root_mismatch');
    } finally {
      await running.stop();
    }
  });

  it('and answers nobody on its socket, as a second one would, is told', async () => {
    const running = await startHub({ dir, metrics: '127.0.0.1:0', logLevel: 'silent' });
    try {
      rmSync(join(dir, 'operator.sock'));
      expect((await examine()).findings).toEqual([
        expect.objectContaining({ code: 'hub_unanswering', remedy: expect.stringMatching(/^fuser -v /) }),
      ]);
    } finally {
      await running.stop();
    }
    expect(codes(await examine())).toEqual([]);
  });

  it('at a path that is too long for a socket is told before it is started', async () => {
    const deep = join(parent, 'd'.repeat(110));
    mkdirSync(deep);
    const long = join(deep, 'hub');
    await initHub({ dir: long, listen: '127.0.0.1:0' });
    rmSync(`${long}.offline-root-key`);
    expect(codes(await examineHub({ dir: long }))).toEqual(['socket_path_too_long']);
  });

  it('is not waited for where something else hangs on the socket', async () => {
    const hanging = createServer((socket) => socket.resume());
    await new Promise<void>((done) => hanging.listen(join(dir, 'operator.sock'), () => done()));
    chmodSync(join(dir, 'operator.sock'), 0o600);
    expect((await examine()).isRunning).toBe(false);
    await new Promise((done) => hanging.close(done));
    expect(existsSync(join(dir, 'operator.sock'))).toBe(false);
    expect(readFileSync(kek(), 'utf8')).toMatch(/^[A-Za-z0-9_-]{43}\n$/);
  }, 20_000);
});
