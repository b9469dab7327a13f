/**
 * Rows that trust rests on carry a MAC under the key-encryption key: whoever can write the database file, and no more,
 * can destroy a pin or a host's state, but never forge one (design 3).
 */
import { isRollcallError } from '@rollcall/core/errors';
import type { MacFields, Vault } from '../kek/vault.ts';

type Trusted = { mac: Uint8Array };
type Unsealed<Row> = Omit<Row, 'mac'>;

/** The row with its MAC, ready to be written. */
export function sealRow<Row extends Trusted>(vault: Vault, table: string, row: Unsealed<Row>): Row {
  return { ...row, mac: vault.mac(table, row as unknown as MacFields) } as Row;
}

/** The row without its MAC, verified. Throws `store_unreadable`. */
export function openRow<Row extends Trusted>(vault: Vault, table: string, stored: Row): Unsealed<Row> {
  const { mac, ...row } = stored;
  const plain = toPlain(row);
  // SQLite keeps a value of any type in a column of any type.
  vault.assertMac(table, plain as unknown as MacFields, mac instanceof Uint8Array ? Uint8Array.from(mac) : NO_MAC);
  return plain as unknown as Unsealed<Row>;
}

/** What `openRow` costs, spent on a row of nobody: where the time of a question must not tell that there was none (I13). */
export function openNoRow<Row extends Trusted>(vault: Vault, table: string, row: Unsealed<Row>): void {
  vault.mac(table, toPlain(row) as unknown as MacFields);
}

function toPlain(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value instanceof Uint8Array ? Uint8Array.from(value) : value,
    ]),
  );
}

/** What a read gives where a row is there, and this hub did not write it so: a fact about one host, and never "none" (I10). */
export type Readable<T> = T | 'unreadable';

/** What `read` makes of a row, in a list that one bad row must not end; never left out of it (I10). Any other error is thrown on. */
export function readOrUnreadable<T>(read: () => T): Readable<T> {
  try {
    return read();
  } catch (error) {
    if (isRollcallError(error, 'store_unreadable')) return 'unreadable';
    throw error;
  }
}

/** The same of a read at the source. A database that does not answer is no fact about a host, and is thrown on. */
export async function orUnreadable<T>(read: Promise<T>): Promise<Readable<T>> {
  try {
    return await read;
  } catch (error) {
    return readOrUnreadable<T>(() => {
      throw error;
    });
  }
}

/** Several rows for each host. Of a host of which one cannot be read, none is: nobody knows which of them is the true one. */
export function openByHost<Row extends Trusted & { readonly host: string }>(
  vault: Vault,
  table: string,
  rows: readonly Row[],
): Map<string, Readable<readonly Unsealed<Row>[]>> {
  const byHost = new Map<string, Unsealed<Row>[] | 'unreadable'>();
  for (const row of rows) {
    const before = byHost.get(row.host);
    const opened = readOrUnreadable(() => openRow(vault, table, row));
    if (opened === 'unreadable' || before === 'unreadable') byHost.set(row.host, 'unreadable');
    else if (before === undefined) byHost.set(row.host, [opened]);
    else before.push(opened);
  }
  return byHost;
}

/**
 * Above every step, and every life, that a row which cannot be read ever had: they rise by one, and far less often than once a
 * second, so the seconds of the hub's clock are ahead of them (as those of an epoch are, design 3).
 */
export function numberAbove(nowMs: number): number {
  return Math.floor(nowMs / 1_000);
}

const NO_MAC = new Uint8Array();
