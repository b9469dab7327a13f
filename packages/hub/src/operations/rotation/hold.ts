/** An operator's hand on a rotation that runs, whatever it turns: pause, resume, leave, cut (design 5). */
import { RollcallError } from '@rollcall/core/errors';
import { decideLeave, isRunning, type Rotation } from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { refresh } from '../../refresh.ts';
import type { Actor } from '../../store/audit.ts';
import type { Tx } from '../../store/schema.ts';
import { type CutInput, type Decided, subjectOf } from './subject.ts';
import { readRotation } from './view.ts';
import { recordRotation, storeRotation } from './write.ts';

/** Nobody else is switched. Safe for any length of time; a window that has an end goes on to it (I7). */
export function pauseRotation(hub: Hub, id: string, reason: string, actor: Actor): Promise<void> {
  return hold(hub, id, actor, 'rotation.paused', async (_tx, rotation) => {
    if (rotation.pausedBecause !== null) throw new RollcallError('rotation_paused');
    return { rotation: { ...rotation, pausedBecause: reason }, details: { because: reason } };
  });
}

export function resumeRotation(hub: Hub, id: string, actor: Actor): Promise<void> {
  return hold(hub, id, actor, 'rotation.resumed', async (_tx, rotation) => {
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
  return hold(hub, id, actor, 'rotation.left', async (tx, rotation) => {
    const subject = subjectOf(rotation.secret);
    const members = subject.members(await subject.view(hub, tx, rotation));
    return { rotation: decideLeave(rotation, leave, members), details: { leave, because: reason } };
  });
}

/** The old version ends earlier. Rotation started a clock; this turns it forward, never back. */
export async function cutRotation(hub: Hub, id: string, input: CutInput, actor: Actor): Promise<void> {
  await hold(hub, id, actor, 'rotation.cut', async (tx, rotation) => {
    const subject = subjectOf(rotation.secret);
    const cut = await subject.cut(hub, tx, await subject.view(hub, tx, rotation), input);
    await hub.clock.save(tx);
    return cut;
  });
  await refresh(hub);
}

async function hold(
  hub: Hub,
  id: string,
  actor: Actor,
  action: string,
  decide: (tx: Tx, rotation: Rotation) => Promise<Decided>,
): Promise<void> {
  await hub.db.transaction().execute(async (tx) => {
    const before = await readRotation(hub, tx, id);
    const { phase } = before;
    if (!isRunning(before)) throw new RollcallError('rotation_moved_on', { phase });
    const { rotation, details } = await decide(tx, before);
    await storeRotation(hub, tx, rotation, phase);
    await recordRotation(hub, tx, rotation, actor, action, details);
  });
  hub.nudgeRotation();
}
