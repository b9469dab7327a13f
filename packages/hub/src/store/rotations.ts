/** Rotations: where each stands. Changes go through compare-and-set on the phase that was seen. */
import type { Rotation } from '@rollcall/core/rotation';
import type { Db, RotationsTable, Tx } from './schema.ts';

/** The rotation of a secret that is not over, if there is one. */
export async function findRunning(db: Db, secret: string): Promise<Rotation | undefined> {
  const row = await db
    .selectFrom('rotations')
    .selectAll()
    .where('secret', '=', secret)
    .where('phase', 'not in', ['done', 'rolled_back'])
    .executeTakeFirst();
  return row === undefined ? undefined : decode(row);
}

/** By id, or the newest of a secret by the secret's name. */
export async function findRotation(db: Db, idOrSecret: string): Promise<Rotation | undefined> {
  const row = await db
    .selectFrom('rotations')
    .selectAll()
    .where((e) => e.or([e('id', '=', idOrSecret), e('secret', '=', idOrSecret)]))
    .orderBy('started_at', 'desc')
    .orderBy('to_version', 'desc')
    .executeTakeFirst();
  return row === undefined ? undefined : decode(row);
}

export async function listRotations(db: Db): Promise<Rotation[]> {
  const rows = await db
    .selectFrom('rotations')
    .selectAll()
    .orderBy('started_at', 'desc')
    .orderBy('to_version', 'desc')
    .limit(1_000)
    .execute();
  return rows.map(decode);
}

export async function insertRotation(tx: Tx, rotation: Rotation): Promise<void> {
  await tx.insertInto('rotations').values(encode(rotation)).execute();
}

/** Writes the rotation if it still stands in the phase `seen`; `false` when someone else was faster. */
export async function updateRotation(tx: Tx, rotation: Rotation, seen: Rotation['phase']): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('rotations')
    .set(encode(rotation))
    .where('id', '=', rotation.id)
    .where('phase', '=', seen)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

function encode(rotation: Rotation): RotationsTable {
  return {
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
  };
}

function decode(row: RotationsTable): Rotation {
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
