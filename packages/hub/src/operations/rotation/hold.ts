/** An operator's hand on a running rotation: pause, resume, leave, cut (design 5). */

import { RollcallError } from '@rollcall/core/errors';
import { decideCut, decideLeave, isRunning, type Rotation } from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { refresh } from '../../refresh.ts';
import type { Actor, AuditEntry } from '../../store/audit.ts';
import { updateGeneration } from '../../store/generations.ts';
import type { Tx } from '../../store/schema.ts';
import { type RotationView, readRotation, viewRotation } from './view.ts';
import { recordRotation, storeRotation } from './write.ts';

/** Nobody else is switched. Safe for any length of time; the window of the old generation goes on (I7). */
export function pauseRotation(hub: Hub, id: string, reason: string, actor: Actor): Promise<void> {
  return hold(hub, id, actor, 'rotation.paused', async (_tx, { rotation }) => {
    if (rotation.pausedBecause !== null) throw new RollcallError('rotation_paused');
    return { rotation: { ...rotation, pausedBecause: reason }, details: { because: reason } };
  });
}

export function resumeRotation(hub: Hub, id: string, actor: Actor): Promise<void> {
  return hold(hub, id, actor, 'rotation.resumed', async (_tx, { rotation }) => {
    if (rotation.pausedBecause === null) throw new RollcallError('rotation_not_paused');
    return { rotation: { ...rotation, pausedBecause: null }, details: {} };
  });
}

/** Their missing evidence is accepted, and shown with the rotation for ever. */
export function leaveRotation(
  hub: Hub,
  id: string,
  { leave, reason }: { readonly leave: readonly string[]; readonly reason: string },
  actor: Actor,
): Promise<void> {
  return hold(hub, id, actor, 'rotation.left', async (_tx, { rotation, sweep }) => ({
    rotation: decideLeave(rotation, leave, sweep.roll),
    details: { leave, because: reason },
  }));
}

/** The window of the old generation ends earlier. Rotation started a clock; this turns it forward, never back. */
export async function cutRotation(
  hub: Hub,
  id: string,
  { untilMs, leave }: { readonly untilMs: number; readonly leave: readonly string[] },
  actor: Actor,
): Promise<void> {
  await hold(hub, id, actor, 'rotation.cut', async (tx, { rotation, generations, sweep }) => {
    const decision = decideCut({ untilMs, leave, left: rotation.left }, sweep, hub.clock.now());
    const previous = generations.find((generation) => generation.version === sweep.previousVersion);
    if (previous === undefined) throw new RollcallError('no_previous_version');
    await updateGeneration(tx, hub.vault, { ...previous, verifyUntilMs: decision.verifyUntilMs });
    await hub.clock.save(tx);
    return {
      rotation: { ...rotation, left: decision.left },
      details: { until: new Date(decision.verifyUntilMs).toISOString(), stranded: decision.stranded },
    };
  });
  await refresh(hub);
}

async function hold(
  hub: Hub,
  id: string,
  actor: Actor,
  action: string,
  decide: (
    tx: Tx,
    view: RotationView,
  ) => Promise<{ readonly rotation: Rotation; readonly details: NonNullable<AuditEntry['details']> }>,
): Promise<void> {
  await hub.db.transaction().execute(async (tx) => {
    const view = await viewRotation(hub, tx, await readRotation(hub, tx, id));
    const { phase } = view.rotation;
    if (!isRunning(view.rotation)) throw new RollcallError('rotation_moved_on', { phase });
    const { rotation, details } = await decide(tx, view);
    await storeRotation(hub, tx, rotation, phase);
    await recordRotation(hub, tx, rotation, actor, action, details);
  });
  hub.nudgeRotation();
}
