/**
 * The walk that every rotation takes, whatever it turns: started, stepped, advanced, turned back. Each act is one
 * transaction with its record, and safe to repeat at any time (design 5).
 */
import { RollcallError } from '@rollcall/core/errors';
import {
  assertTimeTrusted,
  decideAdvance,
  decideRollback,
  isRunning,
  type Phase,
  phases,
  type Rotation,
  type Wave,
} from '@rollcall/core/rotation';
import { closings } from '@rollcall/core/rungs';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import { refresh } from '../../refresh.ts';
import { type Actor, hubActor } from '../../store/audit.ts';
import { findRotation, findRunning } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';
import { listTokenNames } from '../../store/tokens.ts';
import { type StartInput, type Subject, subjectOf, type WalkView } from './subject.ts';
import { readRotation } from './view.ts';
import { enterPhase, narrowAtOnce, recordRotation, storeRotation } from './write.ts';

export interface Started extends Rotation {
  /** The id of the rotation that ran until then, and has ended with this start. */
  readonly supersedes: string | null;
}

export async function startRotation(hub: Hub, input: StartInput, actor: Actor): Promise<Started> {
  const started = await hub.db.transaction().execute(async (tx) => {
    const latest = (await findRotation(tx, hub.vault, input.secret)) ?? null;
    const { rotation, details, supersedes = null } = await subjectOf(input.secret).start(hub, tx, latest, input);
    await hub.clock.save(tx);
    const said = { reason: rotation.reason, left: rotation.left, ...details };
    await recordRotation(hub, tx, rotation, actor, 'rotation.started', said);
    return { ...rotation, supersedes };
  });
  await refresh(hub);
  hub.nudgeRotation();
  return started;
}

/** What the master's rotation does by itself; returns whether anything changed. */
export function stepMaster(hub: Hub): Promise<boolean> {
  return step(hub, MASTER);
}

/** The same for every shared token. */
export async function stepTokens(hub: Hub): Promise<boolean> {
  return eachOf(await listTokenNames(hub.db), (secret) => step(hub, secret));
}

/** The same for every rung that is being closed. */
export function stepRungs(hub: Hub): Promise<boolean> {
  return eachOf(closings, (secret) => step(hub, secret));
}

/** Asks whoever has to be asked, for every walk that runs. It may take long, and holds up no step. */
export async function observeRotations(hub: Hub, signal: AbortSignal): Promise<void> {
  await eachOf([...(await listTokenNames(hub.db)), ...closings], async (secret) => {
    const rotation = await findRunning(hub.db, hub.vault, secret);
    if (rotation !== undefined) await subjectOf(secret).observe(hub, rotation, signal);
    return false;
  });
}

/** One whose rows cannot be read holds up no other; the job says so in the end. Whether any `act` returned true. */
async function eachOf(secrets: readonly string[], act: (secret: string) => Promise<boolean>): Promise<boolean> {
  let changed = false;
  let failure: Error | undefined;
  for (const secret of secrets) {
    try {
      changed = (await act(secret)) || changed;
    } catch (error) {
      failure ??= error as Error;
    }
  }
  if (failure !== undefined) throw failure;
  return changed;
}

/** The end that was said, the next wave, or the gate that opened. */
async function step(hub: Hub, secret: string): Promise<boolean> {
  const subject = subjectOf(secret);
  const changed = await hub.db.transaction().execute(async (tx) => {
    const rotation = await findRunning(tx, hub.vault, secret);
    if (rotation === undefined) return false;
    const view = await subject.view(hub, tx, rotation);
    const now = hub.clock.now();
    const because = subject.mustNarrow(view, now);
    if (because !== null) {
      const after = narrowAtOnce(rotation, now);
      await enterPhase(hub, tx, { subject, view, after, actor: hubActor, because });
      return true;
    }
    if (await takeWave(hub, tx, subject, view, subject.planWave(view, now))) return true;
    if (!subject.goesOnByItself(view) || (dropsNext(rotation) && hub.clock.read().jumped)) return false;
    await advance(hub, tx, subject, view, rotation.phase, hubActor);
    return true;
  });
  if (changed) await refresh(hub);
  return changed;
}

/** For how long nobody was seen with a version is a time, too: nothing is given up for a window that only a jump of the clock closed (I7). */
function dropsNext({ phase }: Rotation): boolean {
  const { next } = phases[phase];
  return next === 'narrowing' || next === 'withdrawing';
}

/** `rotation advance`: one step, if its gate is open. `expected` is the phase that the operator saw. */
export async function advanceRotation(hub: Hub, id: string, expected: Phase | undefined, actor: Actor): Promise<void> {
  await act(hub, id, (tx, subject, view) => advance(hub, tx, subject, view, expected ?? view.rotation.phase, actor));
}

/** Callers first, then verifiers. */
export async function rollBackRotation(hub: Hub, id: string, reason: string, actor: Actor): Promise<void> {
  await act(hub, id, (tx, subject, view) => {
    const after = decideRollback(view.rotation, hub.clock.now());
    const action = 'rotation.rolled_back';
    return enterPhase(hub, tx, { subject, view, after, actor, because: reason, action });
  });
}

async function act(
  hub: Hub,
  id: string,
  decide: (tx: Tx, subject: Subject, view: WalkView) => Promise<void>,
): Promise<void> {
  await hub.db.transaction().execute(async (tx) => {
    const rotation = await readRotation(hub, tx, id);
    if (!isRunning(rotation)) throw new RollcallError('rotation_moved_on', { phase: rotation.phase });
    const subject = subjectOf(rotation.secret);
    await decide(tx, subject, await subject.view(hub, tx, rotation));
  });
  await refresh(hub);
  hub.nudgeRotation();
}

async function advance(
  hub: Hub,
  tx: Tx,
  subject: Subject,
  view: WalkView,
  expected: Phase,
  actor: Actor,
): Promise<void> {
  const after = decideAdvance(view.rotation, view.gate, expected, hub.clock.now());
  if (dropsNext(view.rotation)) assertTimeTrusted(hub.clock.read());
  await enterPhase(hub, tx, { subject, view, after, actor, because: 'gate_open' });
}

async function takeWave(hub: Hub, tx: Tx, subject: Subject, view: WalkView, wave: Wave): Promise<boolean> {
  const { rotation } = view;
  if (wave.kind === 'paused') {
    const { member, because } = wave;
    const pausedBecause = `${member} refuses the delivery: ${because}`;
    await storeRotation(hub, tx, { ...rotation, pausedBecause }, rotation.phase);
    await recordRotation(hub, tx, rotation, hubActor, 'rotation.paused', { member, because });
    return true;
  }
  const { members, canary } = wave;
  if (members.length === 0 && canary === rotation.canary) return false;
  await storeRotation(hub, tx, { ...rotation, canary }, rotation.phase);
  await subject.switchMembers(hub, tx, view, members);
  await recordRotation(hub, tx, rotation, hubActor, 'rotation.wave', { canary, members });
  return true;
}
