import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { codeOf, createTestDatabase } from '../hub.fixture.ts';
import { migrate, schemaVersion } from './migrate.ts';
import { up as firstFleet } from './migrations/001-first-fleet.ts';

describe('the schema', () => {
  it('is brought up to date once', async () => {
    const { db } = await createTestDatabase();
    expect(await migrate(db)).toBe(0);
  });

  it('of a newer program is refused and left as it is; of this one it is taken', async () => {
    const { db } = await createTestDatabase();
    const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db);
    const known = rows[0]?.version ?? 0;
    await sql`update schema_version set version = ${known + 1}`.execute(db);
    expect(await codeOf(migrate(db))).toBe('schema_newer');
    expect((await sql<{ version: number }>`select version from schema_version`.execute(db)).rows).toEqual([
      { version: known + 1 },
    ]);
    await sql`update schema_version set version = ${known}`.execute(db);
    expect(await migrate(db)).toBe(0);
  });

  it('goes on where it was left: a migration that failed has left nothing', async () => {
    const { db } = await createTestDatabase();
    const tables = async () =>
      (
        await sql<{ name: string }>`select name from sqlite_master where type = 'table' order by name`.execute(db)
      ).rows.map(({ name }) => name);
    const asMade = await tables();
    await sql`pragma foreign_keys = off`.execute(db);
    for (const name of asMade) if (!name.startsWith('sqlite_')) await sql`drop table ${sql.id(name)}`.execute(db);
    await firstFleet(db as unknown as Kysely<unknown>);
    await sql`create table schema_version (version bigint not null)`.execute(db);
    await sql`insert into schema_version values (1)`.execute(db);
    // What the next migration makes is there already, made by someone else: it must fail, whole.
    await sql`create table operators (other text)`.execute(db);
    expect(await codeOf(migrate(db))).not.toBe('done');
    expect((await sql<{ version: number }>`select version from schema_version`.execute(db)).rows).toEqual([
      { version: 1 },
    ]);
    await sql`drop table operators`.execute(db);
    expect(await migrate(db)).toBe(schemaVersion - 1);
    expect(await tables()).toEqual(asMade);
  });
});

describe('what the schema itself refuses, whatever the code above believes', () => {
  it('two current or two previous generations (I14)', async () => {
    const { db } = await createTestDatabase();
    const insert = (version: number, state: string) =>
      sql`insert into generations values ('master', ${version}, '{}', ${state}, null, 0, null, 0, x'00')`.execute(db);
    await insert(1, 'previous');
    await insert(2, 'current');
    expect(await codeOf(insert(3, 'current'))).toMatch(/^SQLITE_CONSTRAINT/);
    expect(await codeOf(insert(3, 'previous'))).toMatch(/^SQLITE_CONSTRAINT/);
    expect(await codeOf(insert(3, 'destroyed'))).toBe('done');
    expect(await codeOf(insert(4, 'destroyed'))).toBe('done');
  });

  it('two running rotations of one secret', async () => {
    const { db } = await createTestDatabase();
    const insert = (id: string, phase: string) =>
      sql`insert into rotations values (${id}, 'master', 1, 2, ${phase}, 0, 'planned', 0, '[]', null, null, x'00')`.execute(
        db,
      );
    await insert('a', 'rolling');
    expect(await codeOf(insert('b', 'widening'))).toMatch(/^SQLITE_CONSTRAINT/);
    expect(await codeOf(insert('b', 'done'))).toBe('done');
  });

  it('ids on the roll that differ in case only', async () => {
    const { db } = await createTestDatabase();
    const insert = (id: string, status: string) =>
      sql`insert into hosts values (${id}, ${id.toLowerCase()}, ${status}, 'pull', null, 1, null, 0, null, null, null, null, 0, null, x'00')`.execute(
        db,
      );
    await insert('Agent-7', 'active');
    expect(await codeOf(insert('agent-7', 'active'))).toMatch(/^SQLITE_CONSTRAINT/);
    expect(await codeOf(insert('agent-7', 'removed'))).toBe('done');
  });
});
