/** Writes that every act on a rotation shares, each inside the transaction of the act. */
import { RollcallError } from '@rollcall/core/errors';
import { assignmentSets, type RollHost, type Rotation } from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import { listAssignments } from '../../store/assignments.ts';
import { type Actor, type AuditEntry, appendAudit } from '../../store/audit.ts';
import { type LiveRecord, updateGeneration } from '../../store/generations.ts';
import { updateRotation } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';
import { issueMasterSteps } from '../issue-master-step.ts';
import type { RotationView } from './view.ts';

/** Stores the rotation, unless it has left the phase that was seen: of two who advance at once, one is told. */
export async function storeRotation(
  hub: Pick<Hub, 'vault'>,
  tx: Tx,
  rotation: Rotation,
  seen: Rotation['phase'],
): Promise<void> {
  if (!(await updateRotation(tx, hub.vault, rotation, seen)))
    throw new RollcallError('rotation_moved_on', { phase: seen });
}

/** Narrowing: every host gets the step that accepts the new version alone. From here on there is no way back. */
export async function narrow(
  hub: Hub,
  tx: Tx,
  view: RotationView,
  how: { readonly left: readonly string[]; readonly actor: Actor; readonly because: string },
): Promise<void> {
  const { rotation, hosts } = view;
  const narrowed: Rotation = {
    ...rotation,
    phase: 'narrowing',
    phaseStartedAtMs: hub.clock.now(),
    left: how.left,
    pausedBecause: null,
  };
  await storeRotation(hub, tx, narrowed, rotation.phase);
  await reissue(hub, tx, narrowed, hosts);
  await hub.clock.save(tx);
  await recordRotation(hub, tx, narrowed, how.actor, 'rotation.advanced', {
    out_of: rotation.phase,
    because: how.because,
    notProven: view.sweep.notProvenOnCurrent,
  });
}

/** The value goes; that there was such a version stays. */
export async function destroyGeneration(hub: Hub, tx: Tx, generation: LiveRecord): Promise<void> {
  await updateGeneration(tx, hub.vault, { ...generation, state: 'destroyed', value: undefined });
}

export async function recordRotation(
  hub: Hub,
  tx: Tx,
  rotation: Rotation,
  actor: Actor,
  action: string,
  details: NonNullable<AuditEntry['details']>,
): Promise<void> {
  const { secret, from, to, phase } = rotation;
  await appendAudit(tx, {
    at: hub.clock.now(),
    actor,
    action,
    target: rotation.id,
    outcome: 'done',
    details: { secret, from, to, phase, ...details },
  });
}

/** A new step for every host of the roll whose sets the phase has changed. */
async function reissue(hub: Hub, tx: Tx, rotation: Rotation, hosts: readonly RollHost[]): Promise<void> {
  const standing = await listAssignments(tx, hub.vault, MASTER);
  const wanted = assignmentSets(rotation, rotation.to, { switched: true }, false);
  const changed = hosts.filter(({ id }) => {
    const before = standing.get(id);
    if (before === undefined) return true;
    // The gate names it: a person begins it anew.
    if (before === 'unreadable') return false;
    return before.present !== wanted.present || before.accept.join() !== wanted.accept.join();
  });
  await issueMasterSteps(
    hub,
    tx,
    changed.map(({ id }) => id),
    true,
  );
}
