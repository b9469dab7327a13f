/** Writes that every act on a rotation shares, each inside the transaction of the act. */
import { RollcallError } from '@rollcall/core/errors';
import type { Rotation } from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { type Actor, appendAudit } from '../../store/audit.ts';
import { updateRotation } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';
import type { AuditDetails, Subject, WalkView } from './subject.ts';

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

/** Nobody is waited for any more, whatever held the walk. From here on there is no way back. */
export function narrowAtOnce(rotation: Rotation, nowMs: number): Rotation {
  return { ...rotation, phase: 'narrowing', phaseStartedAtMs: nowMs, pausedBecause: null };
}

export interface Entry<View extends WalkView> {
  readonly subject: Subject<View>;
  readonly view: View;
  readonly after: Rotation;
  readonly actor: Actor;
  /** A code, or an operator's words. */
  readonly because: string;
  readonly action?: string;
}

/** A phase begins: stored, handed out to whom it concerns, and recorded. */
export async function enterPhase<View extends WalkView>(hub: Hub, tx: Tx, entry: Entry<View>): Promise<void> {
  const { subject, view, after, actor, because, action = 'rotation.advanced' } = entry;
  const { phase } = view.rotation;
  await storeRotation(hub, tx, after, phase);
  await subject.enter(hub, tx, view, after);
  await hub.clock.save(tx);
  await recordRotation(hub, tx, after, actor, action, { out_of: phase, because, ...subject.evidence(view) });
}

export async function recordRotation(
  hub: Hub,
  tx: Tx,
  rotation: Rotation,
  actor: Actor,
  action: string,
  details: AuditDetails,
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
