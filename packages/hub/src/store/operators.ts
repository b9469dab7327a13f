/** Operators by name, found by the digest of their token. */
import type { Vault } from '../kek/vault.ts';
import type { Db, OperatorsTable, Tx } from './schema.ts';
import { openRow, sealRow } from './trust-row.ts';

export type OperatorRecord = Omit<OperatorsTable, 'mac'>;

export async function findOperator(db: Db, vault: Vault, name: string): Promise<OperatorRecord | undefined> {
  const row = await db.selectFrom('operators').selectAll().where('name', '=', name).executeTakeFirst();
  return row === undefined ? undefined : openRow<OperatorsTable>(vault, 'operators', row);
}

export async function findOperatorByDigest(
  db: Db,
  vault: Vault,
  digest: Uint8Array,
): Promise<OperatorRecord | undefined> {
  const row = await db
    .selectFrom('operators')
    .selectAll()
    .where('token_digest', '=', Buffer.from(digest))
    .executeTakeFirst();
  return row === undefined ? undefined : openRow<OperatorsTable>(vault, 'operators', row);
}

export async function listOperators(db: Db, vault: Vault): Promise<OperatorRecord[]> {
  const rows = await db.selectFrom('operators').selectAll().orderBy('name').execute();
  return rows.map((row) => openRow<OperatorsTable>(vault, 'operators', row));
}

/** Adds the operator, or replaces its role and token. */
export async function writeOperator(tx: Tx, vault: Vault, operator: OperatorRecord): Promise<void> {
  const row = sealRow<OperatorsTable>(vault, 'operators', operator);
  await tx
    .insertInto('operators')
    .values(row)
    .onConflict((c) => c.column('name').doUpdateSet(row))
    .execute();
}

export async function deleteOperator(tx: Tx, name: string): Promise<void> {
  await tx.deleteFrom('operators').where('name', '=', name).execute();
}
