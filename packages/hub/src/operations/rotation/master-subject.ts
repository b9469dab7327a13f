/**
 * The master, as a rotation (design 5). Its verifiers are the hub's replicas and its callers the hosts, so nothing up to proving
 * can strand anyone, and nothing there waits for a person; narrowing comes with the end of the window, or with `retire`.
 */
import { encodeHex } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import {
  assignmentSets,
  decideCut,
  decideStart,
  isRunning,
  isWindowOpen,
  phases,
  planWave,
  type RollHost,
  type Rotation,
  type StartDecision,
} from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import { listAssignments } from '../../store/assignments.ts';
import { insertGeneration, type LiveRecord, updateGeneration } from '../../store/generations.ts';
import { insertRotation } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';
import { issueMasterSteps } from '../issue-master-step.ts';
import type { Subject } from './subject.ts';
import { type RotationView, viewRoll, viewRotation } from './view.ts';
import { storeRotation } from './write.ts';

export const masterSubject: Subject<RotationView> = {
  async start(hub, tx, latest, { reason, leave, narrowByMs }) {
    const { hosts, generations, sweep } = await viewRoll(hub, tx, latest);
    const { verifyWindowMs, beatMs } = hub.settings;
    const id = `r-${encodeHex(hub.random(6))}`;
    const request = { reason, leave, narrowByMs, id, secret: MASTER, verifyWindowMs, beatMs };
    const decision = decideStart(latest, request, sweep, hub.clock.read());
    await turnGenerations(hub, tx, generations, decision);
    if (latest !== null && isRunning(latest)) {
      await storeRotation(hub, tx, { ...latest, phase: 'done', phaseStartedAtMs: hub.clock.now() }, latest.phase);
    }
    await insertRotation(tx, hub.vault, decision.rotation);
    await reissueDestroyed(hub, tx, hosts, decision.destroys);
    const { rotation, supersedes, withoutUsablePin } = decision;
    const verifyUntil = new Date(decision.verifyUntilMs).toISOString();
    return { rotation, supersedes, details: { verifyUntil, supersedes, withoutUsablePin } };
  },

  // Its verifiers are this process: what they hold is asked of the object that verifies.
  observe: async () => undefined,

  view: viewRotation,

  // The window has ended: the old generation stopped verifying by itself, whoever has not come along (I7).
  mustNarrow: ({ rotation, verifyUntilMs }, nowMs) =>
    phases[rotation.phase].rollback !== null && !isWindowOpen(verifyUntilMs, nowMs) ? 'window_closed' : null,

  planWave({ rotation, hosts }, nowMs) {
    const canaryIsOver = nowMs - rotation.phaseStartedAtMs >= limits.canaryMs;
    return planWave(rotation, hosts, { batch: 'everyone', canaryIsOver });
  },

  goesOnByItself: ({ rotation, gate }) => gate.open && rotation.pausedBecause === null,

  switchMembers: (hub, tx, _view, members) => issueMasterSteps(hub, tx, members, true),

  async enter(hub, tx, { hosts }, after) {
    if (after.phase === 'narrowing') await reissue(hub, tx, after, hosts);
  },

  evidence: ({ gate, sweep }) => ({ cutOff: gate.cutOff, notProven: sweep.notProvenOnCurrent }),

  members: ({ sweep }) => sweep.roll,

  async cut(hub, tx, { rotation, generations, sweep }, { untilMs, leave }) {
    const decision = decideCut({ untilMs, leave, left: rotation.left }, sweep, hub.clock.now());
    const previous = generations.find((generation) => generation.version === sweep.previousVersion);
    if (previous === undefined) throw new RollcallError('no_previous_version');
    await updateGeneration(tx, hub.vault, { ...previous, verifyUntilMs: decision.verifyUntilMs });
    const until = new Date(decision.verifyUntilMs).toISOString();
    return { rotation: { ...rotation, left: decision.left }, details: { until, stranded: decision.stranded } };
  },
};

/** The value goes; that there was such a version stays. */
export async function destroyGeneration(hub: Hub, tx: Tx, generation: LiveRecord): Promise<void> {
  await updateGeneration(tx, hub.vault, { ...generation, state: 'destroyed', value: undefined });
}

/** One step for each generation: the previous one is destroyed, the current one becomes previous, the new one current. */
async function turnGenerations(
  hub: Hub,
  tx: Tx,
  generations: readonly LiveRecord[],
  { rotation, verifyUntilMs, destroys }: StartDecision,
): Promise<void> {
  for (const generation of generations) {
    if (generation.version === destroys) await destroyGeneration(hub, tx, generation);
  }
  for (const generation of generations) {
    if (generation.version !== rotation.from) continue;
    const leaked = rotation.reason === 'leak';
    await updateGeneration(tx, hub.vault, { ...generation, state: 'previous', verifyUntilMs, leaked });
  }
  await insertGeneration(tx, hub.vault, {
    secret: MASTER,
    version: rotation.to,
    scheme: { name: 'hkdf' },
    state: 'current',
    value: new SecretBytes('master', hub.random(32)),
    createdAtMs: hub.clock.now(),
    verifyUntilMs: null,
    leaked: false,
  });
}

/** What is still due and holds the destroyed version could not be sealed any more: those hosts get a step without it. */
async function reissueDestroyed(hub: Hub, tx: Tx, hosts: readonly RollHost[], destroyed: number | null): Promise<void> {
  if (destroyed === null) return;
  const onRoll = new Set(hosts.map(({ id }) => id));
  const standing = [...(await listAssignments(tx, hub.vault, MASTER))];
  const holders = standing.filter(([, held]) => held !== 'unreadable' && held.accept.includes(destroyed));
  const ids = holders.map(([host]) => host).filter((host) => onRoll.has(host));
  await issueMasterSteps(hub, tx, ids);
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
