/**
 * Everything that steers trust carries a MAC, not only what trust is: an assignment says which generation a host is to take,
 * a rotation where it goes, a pending change which key a fingerprint stands for.
 */
import { type Kysely, sql } from 'kysely';

const tables = ['assignments', 'rotations', 'pending_pins', 'observed_keys', 'meta'] as const;

/**
 * Rows that are there keep an empty MAC, which is nobody's: they are unreadable. To seal them here would be to believe them, and
 * whoever can write the file could set the number of the schema back to have a forgery sealed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of tables) {
    await db.schema
      .alterTable(table)
      .addColumn('mac', 'blob', (c) => c.notNull().defaultTo(sql`x''`))
      .execute();
  }
}
