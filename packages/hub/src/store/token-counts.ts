/** What each verifier has counted of a version of a shared token, and since when it is no more (design 5, Counters). */
import type { CountRecord } from '@rollcall/core/rotation';
import type { Vault } from '../kek/vault.ts';
import type { Db, Tx } from './schema.ts';
import type { TokenCountsTable } from './token-counts-table.ts';
import { openRow, sealRow } from './trust-row.ts';

export interface TokenCount extends CountRecord {
  readonly secret: string;
  /** A host id, or that of a replica. */
  readonly member: string;
  readonly version: number;
}

/** Of every verifier, by `member version`. */
export async function listTokenCounts(db: Db, vault: Vault, secret: string): Promise<TokenCount[]> {
  const rows = await db.selectFrom('token_counts').selectAll().where('secret', '=', secret).execute();
  return rows.map((stored) => {
    const row = openRow<TokenCountsTable>(vault, 'token_counts', stored);
    const {
      secret: name,
      member,
      version,
      counter,
      count,
      hits,
      flat_since: flatSinceMs,
      reported_at: reportedAtMs,
    } = row;
    return { secret: name, member, version, counter, count, flatSinceMs, reportedAtMs, hits };
  });
}

export async function writeTokenCount(tx: Tx, vault: Vault, counted: TokenCount): Promise<void> {
  const { secret, member, version, counter, count, hits, flatSinceMs, reportedAtMs } = counted;
  const times = { flat_since: flatSinceMs, reported_at: reportedAtMs };
  const fields = { secret, member, version, counter, count, ...times, hits };
  const row = sealRow<TokenCountsTable>(vault, 'token_counts', fields);
  await tx
    .insertInto('token_counts')
    .values(row)
    .onConflict((c) => c.columns(['secret', 'member', 'version']).doUpdateSet(row))
    .execute();
}

/** Once its rotation has ended: nobody asks for them any more, and the next one counts anew. */
export async function deleteTokenCounts(tx: Tx, secret: string): Promise<void> {
  await tx.deleteFrom('token_counts').where('secret', '=', secret).execute();
}
