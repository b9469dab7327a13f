/** Single facts about this hub: epoch, trust domain, hub root, the floor of its clock. */
import { RollcallError } from '@rollcall/core/errors';
import type { Vault } from '../kek/vault.ts';
import type { Db, MetaTable } from './schema.ts';
import { openRow, sealRow } from './trust-row.ts';

export type MetaKey = 'trust_domain' | 'kek_fingerprint' | 'epoch' | 'clock' | 'hub_root' | 'listen';

/** Written at `hub init`, each of them: one that is not there, or that this hub did not write, is `store_unreadable`. */
export async function readMeta(db: Db, vault: Vault, key: MetaKey): Promise<string> {
  const row = await db.selectFrom('meta').selectAll().where('key', '=', key).executeTakeFirst();
  if (row === undefined) throw new RollcallError('store_unreadable', { table: 'meta', row: key });
  return openRow<MetaTable>(vault, 'meta', row).value;
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
