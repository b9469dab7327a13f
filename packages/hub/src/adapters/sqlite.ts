/**
 * SQLite as the store: WAL, `synchronous=FULL` and a version without the WAL-reset fault, or no start (design 2, traps).
 * A second hub on the same file is kept out by an exclusive transaction on a sibling database, which the system ends
 * with the process, also after kill -9.
 */
import { RollcallError } from '@rollcall/core/errors';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { Db, Schema } from '../store/schema.ts';

export interface OpenDatabase {
  readonly db: Db;
  close(): Promise<void>;
}

const MIN_VERSION = [3, 51, 3];

export async function openSqlite(file: string, options: { readonly create: boolean }): Promise<OpenDatabase> {
  const lock = lockAgainstSecondHub(`${file}.lock`);
  try {
    const sqlite = new SqliteDatabase(file, { fileMustExist: !options.create });
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = FULL');
    sqlite.pragma('foreign_keys = ON');
    sqlite.pragma('busy_timeout = 5000');
    assertDurable(sqlite);
    const db: Db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: sqlite }) });
    return {
      db,
      close: async () => {
        await db.destroy();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw error instanceof RollcallError ? error : new RollcallError('database_unreadable', { file }, { cause: error });
  }
}

/** Throws `database_not_durable` unless a commit that was answered survives a power cut. */
export function assertDurable(sqlite: SqliteDatabase.Database): void {
  const version = String(sqlite.prepare('select sqlite_version() as version').pluck().get());
  const journal = String(sqlite.pragma('journal_mode', { simple: true }));
  const synchronous = Number(sqlite.pragma('synchronous', { simple: true }));
  if (!isAtLeast(version, MIN_VERSION) || journal !== 'wal' || synchronous !== 2) {
    throw new RollcallError('database_not_durable', { version, journal, synchronous });
  }
}

function lockAgainstSecondHub(file: string): SqliteDatabase.Database {
  let lock: SqliteDatabase.Database | undefined;
  try {
    lock = new SqliteDatabase(file, { timeout: 0 });
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock?.close();
    const busy = (error as { code?: string }).code === 'SQLITE_BUSY';
    throw new RollcallError(busy ? 'database_in_use' : 'database_unreadable', { file }, { cause: error });
  }
}

function isAtLeast(version: string, wanted: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, want] of wanted.entries()) {
    const have = parts[index] ?? 0;
    if (have !== want) return have > want;
  }
  return true;
}
