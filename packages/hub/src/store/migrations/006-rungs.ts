/** Tokens of single hosts, and which rungs are accepted of whom (design 3). */
import { type Kysely, sql } from 'kysely';

/** What the roll in memory is made of too, with the column that names the host; of the fleet the empty one (migration 003). */
const sources = [
  ['host_tokens', 'host'],
  ['rung_rules', 'scope'],
] as const;

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('host_tokens')
    .addColumn('host', 'text', (c) => c.notNull().references('hosts.id'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('life', 'bigint', (c) => c.notNull())
    .addColumn('digest', 'blob', (c) => c.notNull().unique())
    .addColumn('issued_at', 'bigint', (c) => c.notNull())
    .addColumn('seen_at', 'bigint')
    .addColumn('live', 'integer', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('host_tokens_key', ['host', 'id'])
    .execute();

  await db.schema
    .createTable('rung_rules')
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('rung', 'text', (c) => c.notNull())
    .addColumn('accepted', 'integer', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('since', 'bigint')
    .addColumn('mac', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('rung_rules_key', ['scope', 'rung'])
    .execute();

  for (const [table, column] of sources) {
    for (const [event, row] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ] as const) {
      await sql
        .raw(
          `create trigger ${table}_${event}_is_a_trust_change after ${event} on ${table} begin
            insert into trust_changes (host, version)
            values (${row}.${column}, (select coalesce(max(version), 0) + 1 from trust_changes))
            on conflict (host) do update set version = excluded.version;
          end`,
        )
        .execute(db);
    }
  }
}
