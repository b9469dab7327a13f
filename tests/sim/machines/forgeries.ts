/** Rows that somebody wrote over who has the database and not the key: what stands there now, and what the hub had written. */
import type { Sqlite } from './parked-database.ts';
import type { Believe, RawRow } from './store-snapshot.ts';

/** The tables that trust rests on, and what their rows are known by. */
export const trustedTables = {
  hosts: ['id'],
  pins: ['host'],
  assignments: ['host', 'secret'],
  enrolment_tokens: ['id'],
  generations: ['version'],
  rotations: ['id'],
  meta: ['key'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type TrustedTable = keyof typeof trustedTables;

export class Forgeries {
  readonly #rows = new Map<
    string,
    { readonly forged: string; readonly written: RawRow; readonly table: TrustedTable }
  >();

  /** For the reader of snapshots. A row that the hub has written since is true again. */
  readonly believe: Believe = (table, row) => {
    if (!Object.hasOwn(trustedTables, table)) return row;
    const key = keyOf(table as TrustedTable, row);
    const known = this.#rows.get(key);
    if (known === undefined) return row;
    if (known.forged === textOf(row)) return known.written;
    this.#rows.delete(key);
    return row;
  };

  /** Writes over one row. `false`: the database has not taken it. */
  forge(sqlite: Sqlite, table: TrustedTable, row: RawRow, changes: RawRow): boolean {
    const forged = { ...row, ...changes };
    if (textOf(forged) === textOf(row) || !write(sqlite, table, forged)) return false;
    const key = keyOf(table, row);
    const written = this.#rows.get(key)?.written ?? row;
    this.#rows.set(key, { forged: textOf(forged), written, table });
    return true;
  }

  /** Every row that still is a forged one is what the hub had written. Returns how many there were. */
  repair(sqlite: Sqlite): number {
    let repaired = 0;
    for (const { forged, written, table } of this.#rows.values()) {
      const [stands] = select(sqlite, table).filter((row) => keyOf(table, row) === keyOf(table, written));
      if (stands === undefined || textOf(stands) !== forged) continue;
      write(sqlite, table, written);
      repaired += 1;
    }
    this.#rows.clear();
    return repaired;
  }
}

export function select(sqlite: Sqlite, table: TrustedTable): readonly RawRow[] {
  return sqlite.prepare(`select * from ${table} order by ${trustedTables[table].join()}`).all() as RawRow[];
}

/** Puts the row in the place of the one with its key. `false`: a constraint forbids it. */
export function write(sqlite: Sqlite, table: TrustedTable, row: RawRow): boolean {
  const keys: readonly string[] = trustedTables[table];
  const columns = Object.keys(row).filter((column) => !keys.includes(column));
  const are = (names: readonly string[]) => names.map((column) => `${column} = ?`);
  const statement = sqlite.prepare(`update ${table} set ${are(columns).join()} where ${are(keys).join(' and ')}`);
  try {
    return statement.run([...columns, ...keys].map((column) => row[column])).changes > 0;
  } catch {
    return false;
  }
}

function keyOf(table: TrustedTable, row: RawRow): string {
  return `${table} ${trustedTables[table].map((column) => String(row[column])).join(' ')}`;
}

function textOf(row: RawRow): string {
  const entries = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(entries, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  );
}
