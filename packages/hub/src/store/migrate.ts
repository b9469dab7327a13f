/** Migrations: numbered, only growing, each in a transaction of its own. A newer schema than this program's is refused. */
import { RollcallError } from '@rollcall/core/errors';
import { type Kysely, sql } from 'kysely';
import { up as firstFleet } from './migrations/001-first-fleet.ts';
import { up as operators } from './migrations/002-operators.ts';
import { up as trustChanges } from './migrations/003-trust-changes.ts';
import { up as sharedTokens } from './migrations/004-shared-tokens.ts';
import { up as certificates } from './migrations/005-certificates.ts';
import { up as rungs } from './migrations/006-rungs.ts';
import { up as refusedVersions } from './migrations/007-refused-versions.ts';
import { up as reportedCounts } from './migrations/008-reported-counts.ts';
import type { Db } from './schema.ts';

const migrations: readonly ((db: Kysely<unknown>) => Promise<void>)[] = [
  firstFleet,
  operators,
  trustChanges,
  sharedTokens,
  certificates,
  rungs,
  refusedVersions,
  reportedCounts,
];

/** What this program writes. */
export const schemaVersion: number = migrations.length;

/** Brings the schema up to date, and returns how many migrations were run. */
export async function migrate(db: Db): Promise<number> {
  await sql`create table if not exists schema_version (version bigint not null)`.execute(db);
  const before = await readVersion(db);
  if (before > migrations.length) {
    throw new RollcallError('schema_newer', { found: before, known: migrations.length });
  }
  for (const [index, up] of migrations.entries()) {
    if (index < before) continue;
    await db.transaction().execute(async (tx) => {
      await up(tx as unknown as Kysely<unknown>);
      await sql`delete from schema_version`.execute(tx);
      await sql`insert into schema_version (version) values (${index + 1})`.execute(tx);
    });
  }
  return migrations.length - before;
}

async function readVersion(db: Db): Promise<number> {
  const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db);
  return rows[0]?.version ?? 0;
}
