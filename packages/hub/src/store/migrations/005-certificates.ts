/** Certificates that hosts were issued, and challenges that were answered and must not be answered again (design 3, 6). */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('certificates')
    .addColumn('serial', 'text', (c) => c.primaryKey())
    .addColumn('host', 'text', (c) => c.notNull().references('hosts.id'))
    .addColumn('life', 'bigint', (c) => c.notNull())
    .addColumn('use', 'text', (c) => c.notNull())
    .addColumn('key_sha256', 'text', (c) => c.notNull())
    .addColumn('proof', 'text', (c) => c.notNull())
    .addColumn('authority', 'text', (c) => c.notNull())
    .addColumn('issued_at', 'bigint', (c) => c.notNull())
    .addColumn('not_after', 'bigint', (c) => c.notNull())
    .addColumn('certificate', 'blob', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('certificates_of_host').on('certificates').column('host').execute();

  await db.schema
    .createTable('spent_challenges')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .execute();
}
