/** Rotations: where each stands. Changes go through compare-and-set on the phase that was seen. */
import { RollcallError } from '@rollcall/core/errors';
import { isRunning, type Rotation } from '@rollcall/core/rotation';
import type { Vault } from '../kek/vault.ts';
import type { Db, RotationsTable, RotationTermsTable, Tx } from './schema.ts';
import { openRow, sealRow } from './trust-row.ts';

const MASTER = 'master';

/**
 * The rotation of a secret that is not over, if there is one. A start ends the one before it, so it is the newest; whether
 * it runs is read off the row once that is verified, and not asked of the database.
 */
export async function findRunning(db: Db, vault: Vault, secret: string): Promise<Rotation | undefined> {
  const newest = await findRotation(db, vault, secret);
  return newest !== undefined && isRunning(newest) ? newest : undefined;
}

/** By id, or the newest of a secret by the secret's name. Throws `store_unreadable` for a row that this hub did not write. */
export async function findRotation(db: Db, vault: Vault, idOrSecret: string): Promise<Rotation | undefined> {
  const row = await db
    .selectFrom('rotations')
    .selectAll()
    .where((e) => e.or([e('id', '=', idOrSecret), e('secret', '=', idOrSecret)]))
    // Of one secret, by its numbers: a clock may have been set back since one before it started, and they only rise.
    .orderBy('to_version', 'desc')
    .executeTakeFirst();
  return row === undefined ? undefined : withTerms(db, vault, decode(vault, row));
}

export async function listRotations(db: Db, vault: Vault): Promise<Rotation[]> {
  const rows = await db
    .selectFrom('rotations')
    .selectAll()
    .orderBy('started_at', 'desc')
    .orderBy('to_version', 'desc')
    .limit(1_000)
    .execute();
  return Promise.all(rows.map((row) => withTerms(db, vault, decode(vault, row))));
}

export async function insertRotation(tx: Tx, vault: Vault, rotation: Rotation): Promise<void> {
  await tx.insertInto('rotations').values(encode(vault, rotation)).execute();
  await writeTerms(tx, vault, rotation);
}

/** Writes the rotation if it still stands in the phase `seen`; `false` when someone else was faster. */
export async function updateRotation(
  tx: Tx,
  vault: Vault,
  rotation: Rotation,
  seen: Rotation['phase'],
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('rotations')
    .set(encode(vault, rotation))
    .where('id', '=', rotation.id)
    .where('phase', '=', seen)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  await writeTerms(tx, vault, rotation);
  return true;
}

/** A rotation of a shared token without its terms is one that this hub did not write so (I10). */
async function withTerms(db: Db, vault: Vault, rotation: Rotation): Promise<Rotation> {
  if (rotation.secret === MASTER) return rotation;
  const stored = await db
    .selectFrom('rotation_terms')
    .selectAll()
    .where('rotation', '=', rotation.id)
    .executeTakeFirst();
  if (stored === undefined) throw new RollcallError('store_unreadable', { table: 'rotation_terms', row: rotation.id });
  const { auto, batch, narrow_by: narrowByMs } = openRow<RotationTermsTable>(vault, 'rotation_terms', stored);
  return { ...rotation, terms: { auto, batch, narrowByMs } };
}

async function writeTerms(tx: Tx, vault: Vault, { id, terms }: Rotation): Promise<void> {
  if (terms === undefined) return;
  const fields = { rotation: id, auto: terms.auto, batch: terms.batch, narrow_by: terms.narrowByMs };
  const row = sealRow<RotationTermsTable>(vault, 'rotation_terms', fields);
  await tx
    .insertInto('rotation_terms')
    .values(row)
    .onConflict((c) => c.column('rotation').doUpdateSet(row))
    .execute();
}

function encode(vault: Vault, rotation: Rotation): RotationsTable {
  return sealRow<RotationsTable>(vault, 'rotations', {
    id: rotation.id,
    secret: rotation.secret,
    from_version: rotation.from,
    to_version: rotation.to,
    phase: rotation.phase,
    phase_since: rotation.phaseStartedAtMs,
    reason: rotation.reason,
    started_at: rotation.startedAtMs,
    left_hosts: JSON.stringify(rotation.left),
    paused_because: rotation.pausedBecause,
    canary: rotation.canary,
  });
}

function decode(vault: Vault, stored: RotationsTable): Rotation {
  const row = openRow<RotationsTable>(vault, 'rotations', stored);
  return {
    id: row.id,
    secret: row.secret,
    from: row.from_version,
    to: row.to_version,
    phase: row.phase,
    phaseStartedAtMs: row.phase_since,
    reason: row.reason,
    startedAtMs: row.started_at,
    left: JSON.parse(row.left_hosts) as string[],
    pausedBecause: row.paused_because,
    canary: row.canary,
  };
}
