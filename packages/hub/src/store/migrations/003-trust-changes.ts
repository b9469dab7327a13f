/**
 * Which host's trust changed last, by a number that only rises: one row says whether memory is as new as the store, for
 * whichever host a refusal names (docs/decisions/009). Kept by the database itself, so that no writer can forget it.
 */
import { type Kysely, sql } from 'kysely';

/** What the roll in memory is made of, with the column that names the host; the master concerns all of them. */
const sources = [
  ['hosts', 'id'],
  ['pins', 'host'],
  ['assignments', 'host'],
  ['generations', null],
] as const;

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('trust_changes')
    .addColumn('host', 'text', (c) => c.primaryKey())
    .addColumn('version', 'bigint', (c) => c.notNull().unique())
    .execute();
  for (const [table, column] of sources) {
    for (const [event, row] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ] as const) {
      const host = column === null ? "''" : `${row}.${column}`;
      await sql
        .raw(
          `create trigger ${table}_${event}_is_a_trust_change after ${event} on ${table} begin
            insert into trust_changes (host, version)
            values (${host}, (select coalesce(max(version), 0) + 1 from trust_changes))
            on conflict (host) do update set version = excluded.version;
          end`,
        )
        .execute(db);
    }
  }
}
