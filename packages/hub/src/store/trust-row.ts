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

/** What `read` makes of a row, in a list that one bad row must not end; never left out of it (I10). Any other error is thrown on. */
export function readOrUnreadable<T>(read: () => T): T | 'unreadable' {
  try {
    return read();
  } catch (error) {
    if (isRollcallError(error, 'store_unreadable')) return 'unreadable';
    throw error;
  }
}

const NO_MAC = new Uint8Array();
