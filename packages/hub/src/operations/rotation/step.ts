/**
 * What a rotation of the master does by itself: the window that closed, the next wave, the gates that opened. Nothing up
 * to proving can strand anyone, so nothing there waits for a person; narrowing comes with the end of the window, or with
 * `retire`. Safe to repeat at any time (design 5, The master, as a rotation).
 */

import { limits } from '@rollcall/core/limits';
import type { Rotation } from '@rollcall/core/rotation';
import { decideAdvance, isWindowOpen, phases, planWave, type Wave } from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import { refresh } from '../../refresh.ts';
import { type Actor, hubActor } from '../../store/audit.ts';
import { findRunning } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';
import { issueMasterSteps } from '../issue-master-step.ts';
import { type RotationView, readRotation, viewRotation } from './view.ts';
import { narrow, recordRotation, storeRotation } from './write.ts';

/** Returns whether anything changed. */
export async function stepRotation(hub: Hub): Promise<boolean> {
  const changed = await hub.db.transaction().execute(async (tx) => {
    const rotation = await findRunning(tx, hub.vault, MASTER);
    if (rotation === undefined) return false;
    const view = await viewRotation(hub, tx, rotation);
    if (mustNarrow(view, hub.clock.now())) {
      await narrow(hub, tx, view, { left: rotation.left, actor: hubActor, because: 'window_closed' });
      return true;
    }
    const canaryIsOver = hub.clock.now() - rotation.phaseStartedAtMs >= limits.canaryMs;
    const wave = planWave(rotation, view.hosts, { batch: 'everyone', canaryIsOver });
    if (await takeWave(hub, tx, rotation, wave)) return true;
    if (!view.gate.open || rotation.pausedBecause !== null) return false;
    await advance(hub, tx, view, rotation.phase, hubActor);
    return true;
  });
  if (changed) await refresh(hub);
  return changed;
}

/** `rotation advance`: one step, if its gate is open. `expected` is the phase that the operator saw. */
export async function advanceRotation(
  hub: Hub,
  id: string,
  expected: Rotation['phase'] | undefined,
  actor: Actor,
): Promise<void> {
  await hub.db.transaction().execute(async (tx) => {
    const view = await viewRotation(hub, tx, await readRotation(hub, tx, id));
    await advance(hub, tx, view, expected ?? view.rotation.phase, actor);
  });
  await refresh(hub);
  hub.nudgeRotation();
}

/** The window has ended: the old generation stopped verifying by itself, whoever has not come along (I7). */
function mustNarrow({ rotation, verifyUntilMs }: RotationView, nowMs: number): boolean {
  return phases[rotation.phase].rollback !== null && !isWindowOpen(verifyUntilMs, nowMs);
}

async function takeWave(hub: Hub, tx: Tx, rotation: Rotation, wave: Wave): Promise<boolean> {
  if (wave.kind === 'paused') {
    const pausedBecause = `${wave.member} refuses the delivery: ${wave.because}`;
    await storeRotation(hub, tx, { ...rotation, pausedBecause }, rotation.phase);
    await recordRotation(hub, tx, rotation, hubActor, 'rotation.paused', {
      member: wave.member,
      because: wave.because,
    });
    return true;
  }
  if (wave.members.length === 0 && wave.canary === rotation.canary) return false;
  await storeRotation(hub, tx, { ...rotation, canary: wave.canary }, rotation.phase);
  await issueMasterSteps(hub, tx, wave.members, true);
  await recordRotation(hub, tx, rotation, hubActor, 'rotation.wave', { canary: wave.canary, members: wave.members });
  return true;
}

async function advance(hub: Hub, tx: Tx, view: RotationView, expected: Rotation['phase'], actor: Actor): Promise<void> {
  const { rotation, gate } = view;
  const after = decideAdvance(rotation, gate, expected, hub.clock.now());
  if (after.phase === 'narrowing') {
    await narrow(hub, tx, view, { left: rotation.left, actor, because: 'gate_open' });
    return;
  }
  await storeRotation(hub, tx, after, rotation.phase);
  await recordRotation(hub, tx, after, actor, 'rotation.advanced', { out_of: rotation.phase, cutOff: gate.cutOff });
}
