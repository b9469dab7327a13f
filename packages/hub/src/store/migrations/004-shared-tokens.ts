/** Shared tokens: their versions, who holds them, what a rotation of one was started with, and what was counted of them (design 5). */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('tokens')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('current_version', 'bigint', (c) => c.notNull())
    .addColumn('weak', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('token_versions')
    .addColumn('secret', 'text', (c) => c.notNull().references('tokens.name'))
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('value_ciphertext', 'blob')
    .addColumn('digest', 'blob', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('token_versions_key', ['secret', 'version'])
    .execute();

  await db.schema
    .createTable('token_holders')
    .addColumn('secret', 'text', (c) => c.notNull().references('tokens.name'))
    .addColumn('member', 'text', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('token_holders_key', ['secret', 'member'])
    .execute();

  // Beside the rotation and not in it: the rows of rotations that were have a MAC over the columns that there were.
  await db.schema
    .createTable('rotation_terms')
    .addColumn('rotation', 'text', (c) => c.primaryKey().references('rotations.id'))
    .addColumn('auto', 'text', (c) => c.notNull())
    .addColumn('batch', 'bigint', (c) => c.notNull())
    .addColumn('narrow_by', 'bigint')
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('token_counts')
    .addColumn('secret', 'text', (c) => c.notNull().references('tokens.name'))
    .addColumn('member', 'text', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('counter', 'text', (c) => c.notNull())
    .addColumn('count', 'bigint', (c) => c.notNull())
    .addColumn('flat_since', 'bigint', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('token_counts_key', ['secret', 'member', 'version'])
    .execute();

  // Which versions are taken follows from these: as a generation of the master, that concerns every host (migration 003).
  for (const table of ['tokens', 'token_versions', 'rotations', 'rotation_terms']) {
    for (const event of ['insert', 'update', 'delete']) {
      await sql
        .raw(
          `create trigger ${table}_${event}_is_a_trust_change after ${event} on ${table} begin
            insert into trust_changes (host, version)
            values ('', (select coalesce(max(version), 0) + 1 from trust_changes))
            on conflict (host) do update set version = excluded.version;
          end`,
        )
        .execute(db);
    }
  }
}
