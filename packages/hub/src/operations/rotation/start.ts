/** `rotation start master`: the new generation is durable, encrypted, before anything uses it (design 5, I11). */

import { encodeHex } from '@rollcall/core/bytes';
import { SecretBytes } from '@rollcall/core/keys';
import {
  decideStart,
  isRunning,
  type RollHost,
  type Rotation,
  type RotationReason,
  type StartDecision,
} from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import { refresh } from '../../refresh.ts';
import { listAssignments } from '../../store/assignments.ts';
import type { Actor } from '../../store/audit.ts';
import { insertGeneration, type LiveRecord, updateGeneration } from '../../store/generations.ts';
import { findRotation, insertRotation } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';
import { issueMasterSteps } from '../issue-master-step.ts';
import { viewRoll } from './view.ts';
import { destroyGeneration, recordRotation, storeRotation } from './write.ts';

export interface StartInput {
  readonly reason: RotationReason;
  readonly leave: readonly string[];
  readonly narrowByMs: number | null;
}

export async function startRotation(hub: Hub, input: StartInput, actor: Actor): Promise<Rotation> {
  const started = await hub.db.transaction().execute(async (tx) => {
    const latest = (await findRotation(tx, hub.vault, MASTER)) ?? null;
    const { hosts, generations, sweep } = await viewRoll(hub, tx, latest);
    const { verifyWindowMs, beatMs } = hub.settings;
    const request = { ...input, id: `r-${encodeHex(hub.random(6))}`, secret: MASTER, verifyWindowMs, beatMs };
    const decision = decideStart(latest, request, sweep, hub.clock.read());

    await turnGenerations(hub, tx, generations, decision);
    if (latest !== null && isRunning(latest)) {
      await storeRotation(hub, tx, { ...latest, phase: 'done', phaseStartedAtMs: hub.clock.now() }, latest.phase);
    }
    await insertRotation(tx, hub.vault, decision.rotation);
    await reissueDestroyed(hub, tx, hosts, decision.destroys);
    await hub.clock.save(tx);
    await recordRotation(hub, tx, decision.rotation, actor, 'rotation.started', {
      reason: input.reason,
      verifyUntil: new Date(decision.verifyUntilMs).toISOString(),
      supersedes: decision.supersedes,
      withoutUsablePin: decision.withoutUsablePin,
      left: decision.rotation.left,
    });
    return decision.rotation;
  });
  await refresh(hub);
  hub.nudgeRotation();
  return started;
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
