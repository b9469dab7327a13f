/**
 * Hosts of an older fleet hold a generation of the master itself, and go on knowing it whatever happens to them: which one is
 * written down when they are put on the roll. Rows that are there are not sealed anew, since that would be to believe
 * them (004): in them the column is null, and a null in it is no part of what their MAC covers.
 */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('hosts').addColumn('knows_master', 'bigint').execute();
}
