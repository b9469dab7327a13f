/** Rotations: where each stands. Changes go through compare-and-set on the phase that was seen. */
import { isRunning, type Rotation } from '@rollcall/core/rotation';
import type { Vault } from '../kek/vault.ts';
import type { Db, RotationsTable, Tx } from './schema.ts';
import { openRow, sealRow } from './trust-row.ts';

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
    .orderBy('started_at', 'desc')
    .orderBy('to_version', 'desc')
    .executeTakeFirst();
  return row === undefined ? undefined : decode(vault, row);
}

export async function listRotations(db: Db, vault: Vault): Promise<Rotation[]> {
  const rows = await db
    .selectFrom('rotations')
    .selectAll()
    .orderBy('started_at', 'desc')
    .orderBy('to_version', 'desc')
    .limit(1_000)
    .execute();
  return rows.map((row) => decode(vault, row));
}

export async function insertRotation(tx: Tx, vault: Vault, rotation: Rotation): Promise<void> {
  await tx.insertInto('rotations').values(encode(vault, rotation)).execute();
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
  return numUpdatedRows === 1n;
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
