/** An operator's hand on a rotation that runs, whichever secret it is of: pause, resume, leave, cut (design 5). */
import { RollcallError } from '@rollcall/core/errors';
import { decideCut, decideLeave, decideTokenCut, isRunning, type Rotation } from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import { refresh } from '../../refresh.ts';
import type { Actor, AuditEntry } from '../../store/audit.ts';
import { updateGeneration } from '../../store/generations.ts';
import type { Tx } from '../../store/schema.ts';
import { observeHolders } from '../token/observe-holders.ts';
import { readRotation, viewRotation } from './view.ts';
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
  return hold(hub, id, actor, 'rotation.left', async (tx, rotation) => ({
    rotation: decideLeave(rotation, leave, await membersOf(hub, tx, rotation)),
    details: { leave, because: reason },
  }));
}

/** The old version ends earlier. Rotation started a clock; this turns it forward, never back. */
export async function cutRotation(
  hub: Hub,
  id: string,
  request: { readonly untilMs: number; readonly leave: readonly string[] },
  actor: Actor,
): Promise<void> {
  await hold(hub, id, actor, 'rotation.cut', (tx, rotation) =>
    rotation.secret === MASTER ? cutMaster(hub, tx, rotation, request) : cutToken(hub, tx, rotation, request),
  );
  await refresh(hub);
}

interface Held {
  readonly rotation: Rotation;
  readonly details: NonNullable<AuditEntry['details']>;
}

type CutRequest = Parameters<typeof cutRotation>[2];

async function cutMaster(hub: Hub, tx: Tx, rotation: Rotation, { untilMs, leave }: CutRequest): Promise<Held> {
  const { generations, sweep } = await viewRotation(hub, tx, rotation);
  const decision = decideCut({ untilMs, leave, left: rotation.left }, sweep, hub.clock.now());
  const previous = generations.find((generation) => generation.version === sweep.previousVersion);
  if (previous === undefined) throw new RollcallError('no_previous_version');
  await updateGeneration(tx, hub.vault, { ...previous, verifyUntilMs: decision.verifyUntilMs });
  await hub.clock.save(tx);
  return {
    rotation: { ...rotation, left: decision.left },
    details: { until: new Date(decision.verifyUntilMs).toISOString(), stranded: decision.stranded },
  };
}

async function cutToken(hub: Hub, tx: Tx, rotation: Rotation, request: CutRequest): Promise<Held> {
  const holders = await observeHolders(hub, tx, rotation.secret, rotation);
  const cut = decideTokenCut(rotation, request, holders, hub.clock.now());
  await hub.clock.save(tx);
  const until = new Date(cut.terms?.narrowByMs ?? 0).toISOString();
  return { rotation: cut, details: { until, left: cut.left } };
}

async function membersOf(hub: Hub, tx: Tx, rotation: Rotation): Promise<readonly string[]> {
  if (rotation.secret === MASTER) return (await viewRotation(hub, tx, rotation)).sweep.roll;
  return (await observeHolders(hub, tx, rotation.secret, rotation)).map(({ id }) => id);
}

async function hold(
  hub: Hub,
  id: string,
  actor: Actor,
  action: string,
  decide: (tx: Tx, rotation: Rotation) => Promise<Held>,
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
