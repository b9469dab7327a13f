/** Single facts about this hub: epoch, trust domain, the floor of its clock. */
import type { Db } from './schema.ts';

export type MetaKey = 'trust_domain' | 'kek_fingerprint' | 'epoch' | 'clock' | 'hub_root' | 'listen';

export async function findMeta(db: Db, key: MetaKey): Promise<string | undefined> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value;
}

export async function writeMeta(db: Db, key: MetaKey, value: string): Promise<void> {
  await db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((c) => c.column('key').doUpdateSet({ value }))
    .execute();
}
