/** Whose trust changed since a version of the store (migration 003). Asked at every refusal, so it costs one look at an index. */
import type { Db } from './schema.ts';

/** In the place of a host: the generations of the master, which concern all of them. */
export const EVERY_HOST = '';

export interface TrustChange {
  /** Or `EVERY_HOST`. */
  readonly host: string;
  readonly version: number;
}

/** Oldest first. */
export async function listTrustChanges(db: Db, after: number): Promise<TrustChange[]> {
  return db.selectFrom('trust_changes').selectAll().where('version', '>', after).orderBy('version').execute();
}

/** The version of the newest change, of all or of what one name stands for; 0 before any. */
export async function readTrustVersion(db: Db, host?: string): Promise<number> {
  const query = db.selectFrom('trust_changes').select('version').orderBy('version', 'desc').limit(1);
  const row = await (host === undefined ? query : query.where('host', '=', host)).executeTakeFirst();
  return row?.version ?? 0;
}
