/** When a count was reported last, and how often the version came (design 5, Counters). */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // When the counts that there are were reported is not known, so that their windows begin anew (I10).
  await sql`delete from token_counts`.execute(db);
  for (const column of ['reported_at', 'hits']) {
    await db.schema
      .alterTable('token_counts')
      .addColumn(column, 'bigint', (c) => c.notNull().defaultTo(0))
      .execute();
  }
}
