/** What was last seen of each host, flushed from memory in batches (design 2, "Data through the house"). */
import { limits } from '@rollcall/core/limits';
import { sql } from 'kysely';
import type { Db, LivenessTable } from './schema.ts';

export async function listLiveness(db: Db): Promise<LivenessTable[]> {
  return db.selectFrom('liveness').selectAll().execute();
}

/** One transaction for all rows, in statements of a bounded size. */
export async function flushLiveness(db: Db, rows: readonly LivenessTable[]): Promise<void> {
  if (rows.length === 0) return;
  await db.transaction().execute(async (tx) => {
    for (let at = 0; at < rows.length; at += limits.livenessFlushRows) {
      await tx
        .insertInto('liveness')
        .values(rows.slice(at, at + limits.livenessFlushRows))
        .onConflict((c) =>
          c.column('host').doUpdateSet({
            last_seen_at: sql`excluded.last_seen_at`,
            interval_ms: sql`excluded.interval_ms`,
            instance: sql`excluded.instance`,
            seq: sql`excluded.seq`,
            address: sql`excluded.address`,
            agent_version: sql`excluded.agent_version`,
            rung: sql`excluded.rung`,
            version: sql`excluded.version`,
            skew_ms: sql`excluded.skew_ms`,
          }),
        )
        .execute();
    }
  });
}
