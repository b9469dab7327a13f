/** Operators that reach the hub over TCP. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('operators')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('role', 'text', (c) => c.notNull())
    // HMAC under a key from the key-encryption key: a stolen database cannot be searched for a token (design 3).
    .addColumn('token_digest', 'blob', (c) => c.notNull().unique())
    .addColumn('added_at', 'bigint', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();
}
