/** Single facts about this hub: epoch, trust domain, hub root, the floor of its clock. */
import { RollcallError } from '@rollcall/core/errors';
import type { Vault } from '../kek/vault.ts';
import type { Db, MetaTable, Tx } from './schema.ts';
import { openRow, sealRow } from './trust-row.ts';

export type MetaKey =
  | 'trust_domain'
  | 'kek_fingerprint'
  | 'epoch'
  | 'clock'
  | 'hub_root'
  | 'listen'
  | 'token_counter'
  | 'rung_sightings';

/** What `hub init` wrote: one that is not there, or that this hub did not write, is `store_unreadable`. */
export async function readMeta(db: Db, vault: Vault, key: MetaKey): Promise<string> {
  const value = await findMeta(db, vault, key);
  if (value === undefined) throw new RollcallError('store_unreadable', { table: 'meta', row: key });
  return value;
}

/** What a hub may have left behind. */
export async function findMeta(db: Db, vault: Vault, key: MetaKey): Promise<string | undefined> {
  const row = await db.selectFrom('meta').selectAll().where('key', '=', key).executeTakeFirst();
  return row === undefined ? undefined : openRow<MetaTable>(vault, 'meta', row).value;
}

export async function deleteMeta(tx: Tx, key: MetaKey): Promise<void> {
  await tx.deleteFrom('meta').where('key', '=', key).execute();
}

/** Which key-encryption key the MACs are under: read before there is a key to verify any with. */
export async function findKekFingerprint(db: Db): Promise<string | undefined> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', 'kek_fingerprint').executeTakeFirst();
  return row?.value;
}

export async function writeMeta(db: Db, vault: Vault, key: MetaKey, value: string): Promise<void> {
  const row = sealRow<MetaTable>(vault, 'meta', { key, value });
  await db
    .insertInto('meta')
    .values(row)
    .onConflict((c) => c.column('key').doUpdateSet(row))
    .execute();
}
