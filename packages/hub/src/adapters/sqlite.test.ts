import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf, createTestVault } from '../hub.fixture.ts';
import { writeMeta } from '../store/meta.ts';
import { migrate } from '../store/migrate.ts';
import { assertDurable, openSqlite } from './sqlite.ts';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rollcall-sqlite-'));
  file = join(dir, 'hub.db');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('durability', () => {
  it('holds after the first write too, where SQLite falls back to a weaker one by itself', async () => {
    const { db, close } = await openSqlite(file, { create: true });
    await migrate(db);
    await writeMeta(db, createTestVault('kek'), 'epoch', '1');
    const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(db);
    const { rows: journal } = await sql<{ journal_mode: string }>`pragma journal_mode`.execute(db);
    expect([rows[0]?.synchronous, journal[0]?.journal_mode]).toEqual([2, 'wal']);
    await close();
  });

  it.each([
    ['synchronous = NORMAL', 'database_not_durable'],
    ['synchronous = OFF', 'database_not_durable'],
    ['journal_mode = DELETE', 'database_not_durable'],
    ['synchronous = FULL', 'done'],
  ])('with %s: %s', async (pragma, code) => {
    const sqlite = new SqliteDatabase(file);
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = FULL');
    sqlite.pragma(pragma);
    expect(await codeOf(() => assertDurable(sqlite))).toBe(code);
    sqlite.close();
  });
});

describe('one hub on a file', () => {
  it('a second one is refused at once, and is let in when the first has stopped', async () => {
    const first = await openSqlite(file, { create: true });
    const startedAt = performance.now();
    expect(await codeOf(openSqlite(file, { create: false }))).toBe('database_in_use');
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(await codeOf(sql`select 1`.execute(first.db))).toBe('done');
    await first.close();
    const second = await openSqlite(file, { create: false });
    await second.close();
  });

  it('is let in when the first was killed', async () => {
    await (await openSqlite(file, { create: true })).close();
    const holder = spawn(
      process.execPath,
      [
        '-e',
        `const l = new (require('better-sqlite3'))(process.argv[1]); l.exec('begin exclusive'); console.log('held'); setInterval(() => {}, 1e6)`,
        `${file}.lock`,
      ],
      { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = new Promise((resolve) => holder.once('exit', resolve));
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    expect(await codeOf(openSqlite(file, { create: false }))).toBe('database_in_use');
    holder.kill('SIGKILL');
    await ended;
    const opened = await openSqlite(file, { create: false });
    await opened.close();
  });
});

describe('a file', () => {
  it('that is not there is made for `hub init` only', async () => {
    expect(await codeOf(openSqlite(file, { create: false }))).toBe('database_unreadable');
    const made = await openSqlite(file, { create: true });
    await made.close();
    const opened = await openSqlite(file, { create: false });
    await opened.close();
  });

  it('that is no database is named and left as it is, and does not stay locked', async () => {
    writeFileSync(file, 'not a database, but long enough to have a header of one hundred bytes'.repeat(10));
    expect(await codeOf(openSqlite(file, { create: false }))).toBe('database_unreadable');
    rmSync(file);
    const opened = await openSqlite(file, { create: true });
    await opened.close();
  });
});
