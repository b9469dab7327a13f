/** What a step of a shared token drops, so that its host can be told and asks itself (design 5, narrowing). */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('assignments').addColumn('refuse', 'text').execute();
}
