/** Many rows in statements of a bounded size: one for each row would hold the one connection of a hub for seconds. */
import { limits } from '@rollcall/core/limits';
import { sql } from 'kysely';
import type { Schema, Tx } from './schema.ts';

export function inBatches<T>(rows: readonly T[]): T[][] {
  const batches: T[][] = [];
  for (let at = 0; at < rows.length; at += limits.storeBatchRows)
    batches.push(rows.slice(at, at + limits.storeBatchRows));
  return batches;
}

/** Each row in the place of the one with its key, if there is one. */
export async function upsertRows<Table extends 'hosts' | 'pins' | 'assignments'>(
  tx: Tx,
  table: Table,
  key: readonly (keyof Schema[Table] & string)[],
  rows: readonly Schema[Table][],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => !(key as readonly string[]).includes(column));
  const anew = Object.fromEntries(columns.map((column) => [column, sql.ref(`excluded.${column}`)]));
  for (const batch of inBatches(rows)) {
    await tx
      .insertInto(table)
      // Kysely cannot follow a table that is a parameter; the rows are typed by it.
      .values(batch as never)
      .onConflict((c) => c.columns(key as never).doUpdateSet(anew as never))
      .execute();
  }
}
