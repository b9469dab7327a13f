/**
 * SQLite in memory behind Kysely, with a park before each statement, begin, commit and rollback, and after a commit: a hub
 * can be killed at each of them. The shipped store runs on it unchanged.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Db,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  type Schema,
  SqliteAdapter,
  SqliteDatabase,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from '@rollcall/hub/parts';
import type { Scheduler, Waiting } from '../engine/scheduler.ts';

export type Sqlite = InstanceType<typeof SqliteDatabase>;

export interface StoreFaults {
  /** The error of the system that this operation meets, if any. */
  fail(operation: string): string | undefined;
  /** How long it takes. */
  delayMs(): number;
}

export interface StoreWatch {
  /** After every change that is in the database for good. */
  onCommit(): void;
}

export function openMemory(image?: Uint8Array): Sqlite {
  const sqlite = image === undefined ? new SqliteDatabase(':memory:') : new SqliteDatabase(Buffer.from(image));
  sqlite.pragma('foreign_keys = ON');
  return sqlite;
}

/** One process's way to the database. */
export function connect(sqlite: Sqlite, scheduler: Scheduler, faults: StoreFaults, watch: StoreWatch): Db {
  const dialect: Dialect = {
    createDriver: () => new ParkedDriver(sqlite, scheduler, faults, watch),
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
  return new Kysely<Schema>({ dialect });
}

class ParkedDriver implements Driver {
  readonly #scheduler: Scheduler;
  readonly #connection: ParkedConnection;
  #isTaken = false;
  readonly #queue: Waiting[] = [];

  constructor(sqlite: Sqlite, scheduler: Scheduler, faults: StoreFaults, watch: StoreWatch) {
    this.#scheduler = scheduler;
    this.#connection = new ParkedConnection(sqlite, scheduler, faults, watch);
  }

  async init(): Promise<void> {}

  /** There is one connection; who finds it taken is parked until it is handed over. */
  async acquireConnection(): Promise<DatabaseConnection> {
    while (this.#isTaken) {
      const waiting = this.#scheduler.wait('waits for the database', Number.POSITIVE_INFINITY);
      this.#queue.push(waiting);
      await waiting.due;
    }
    this.#isTaken = true;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#isTaken = false;
    this.#queue.shift()?.wake();
  }

  beginTransaction(): Promise<void> {
    return this.#connection.run('begin');
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.run('commit');
    await this.#scheduler.park('has committed');
  }

  rollbackTransaction(): Promise<void> {
    return this.#connection.run('rollback');
  }

  async destroy(): Promise<void> {}
}

class ParkedConnection implements DatabaseConnection {
  readonly #sqlite: Sqlite;
  readonly #scheduler: Scheduler;
  readonly #faults: StoreFaults;
  readonly #watch: StoreWatch;
  readonly #prepared = new Map<string, ReturnType<Sqlite['prepare']>>();
  #changes = -1;

  constructor(sqlite: Sqlite, scheduler: Scheduler, faults: StoreFaults, watch: StoreWatch) {
    this.#sqlite = sqlite;
    this.#scheduler = scheduler;
    this.#faults = faults;
    this.#watch = watch;
  }

  async run(command: 'begin' | 'commit' | 'rollback'): Promise<void> {
    await this.#pause(command);
    // SQLite may have rolled back by itself.
    if (command === 'rollback' && !this.#sqlite.inTransaction) return;
    this.#prepare(command).run([]);
    if (command === 'commit') this.#tellOfChanges();
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    await this.#pause(sql.slice(0, 40));
    const statement = this.#prepare(sql);
    if (statement.reader) return { rows: statement.all(parameters) as R[] };
    const { changes, lastInsertRowid } = statement.run(parameters);
    if (!this.#sqlite.inTransaction) this.#tellOfChanges();
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new TypeError('the hub streams no query');
  }

  /** Of a transaction that only read there is nothing to tell. */
  #tellOfChanges(): void {
    const changes = this.#prepare('select total_changes()').pluck().get() as number;
    if (changes === this.#changes) return;
    this.#changes = changes;
    this.#watch.onCommit();
  }

  async #pause(operation: string): Promise<void> {
    await this.#scheduler.park(operation, this.#faults.delayMs());
    const code = operation === 'rollback' ? undefined : this.#faults.fail(operation);
    if (code !== undefined) throw Object.assign(new Error(code), { code });
  }

  #prepare(sql: string): ReturnType<Sqlite['prepare']> {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#sqlite.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
