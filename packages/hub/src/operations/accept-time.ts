/**
 * `hub accept-time`: a person says that the wall clock is right. It may lower the floor, so nothing may be open afterwards that
 * was opened, or has ended, by the time that was wrong (design 6, Clocks; I7).
 */

import { limits } from '@rollcall/core/limits';
import { endAfterAcceptedTime, isWindowOpen, type Rotation } from '@rollcall/core/rotation';
import { closings } from '@rollcall/core/rungs';
import type { AcceptTimeAnswer } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { refresh } from '../refresh.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import { killEnrolmentTokens } from '../store/enrolment-tokens.ts';
import { type LiveRecord, listUndestroyed, updateGeneration } from '../store/generations.ts';
import { listRoll, putHosts } from '../store/hosts.ts';
import { writeMeta } from '../store/meta.ts';
import { findRotation, findRunning, updateRotation } from '../store/rotations.ts';
import type { Tx } from '../store/schema.ts';
import { listTokenNames } from '../store/tokens.ts';
import { orUnreadable } from '../store/trust-row.ts';
import { toTime } from '../views/hosts.ts';

export async function acceptTime(hub: Hub, actor: Actor): Promise<AcceptTimeAnswer> {
  const beforeMs = hub.clock.now();
  const accepted = hub.clock.wallTime();
  // Within an epoch agents take rising times only: they would believe no statement until the time that was wrong has come.
  const epoch = accepted.nowMs < beforeMs ? hub.epoch + 1 : hub.epoch;
  let running: readonly Rotation[] = [];
  const closed = await hub.db.transaction().execute(async (tx) => {
    running = await listWithEnd(hub, tx);
    const closed = {
      generation: await closeGeneration(hub, tx, { beforeMs, afterMs: accepted.nowMs }),
      hosts: await closeHosts(hub, tx),
    };
    const rotations = await moveEnds(hub, tx, running, { beforeMs, afterMs: accepted.nowMs });
    await hub.clock.save(tx, accepted);
    await writeMeta(tx, hub.vault, 'epoch', String(epoch));
    await appendAudit(tx, {
      at: accepted.nowMs,
      actor,
      action: 'hub.time_accepted',
      target: 'hub',
      outcome: 'done',
      details: {
        before: toTime(beforeMs),
        after: toTime(accepted.nowMs),
        ...closed,
        rotations: rotations.map(({ rotation, endMs }) => `${rotation.id} ends ${toTime(endMs)}`),
      },
    });
    return closed;
  });
  // Memory closes what was closed before time goes back: else it would open it again until it has read that.
  await Promise.all([hub.generations.catchUp(), hub.tokens.catchUp()]);
  // A window that has ended while this was written was not closed by it, and by the accepted time it would be open.
  if (hasEndedSince(hub, beforeMs) || isAnyEnded(hub, running, beforeMs)) return acceptTime(hub, actor);
  // Together, so that nothing is signed in the new epoch by the time before.
  hub.clock.accept(accepted);
  hub.epoch = epoch;
  // What was written in between was written by the time before, and with it the floor.
  await hub.clock.save(hub.db);
  await refresh(hub);
  hub.nudgeRotation();
  return { before: toTime(beforeMs), after: toTime(accepted.nowMs), ...closed };
}

/** A window stays open only where it was open by both times, and was opened before either. Returns the version it closed. */
async function closeGeneration(
  hub: Hub,
  tx: Tx,
  { beforeMs, afterMs }: { readonly beforeMs: number; readonly afterMs: number },
): Promise<number | null> {
  const previous = (await listUndestroyed(tx, hub.vault, MASTER)).find(({ state }) => state === 'previous');
  if (previous === undefined || previous.verifyUntilMs === null) return null;
  const rotation = await findRotation(tx, hub.vault, MASTER);
  const stays = isWindowOpen(previous.verifyUntilMs, beforeMs) && startedBy(rotation, previous, afterMs);
  if (stays) return null;
  await updateGeneration(tx, hub.vault, { ...previous, verifyUntilMs: null });
  return previous.version;
}

function hasEndedSince({ clock, generations }: Hub, beforeMs: number): boolean {
  const endsMs = generations.previous?.verifyUntilMs ?? null;
  return isWindowOpen(endsMs, beforeMs) && !isWindowOpen(endsMs, clock.now());
}

/** Of shared tokens and of rungs, whose old version is refused at a time that was said. Returns those whose end is another now. */
async function moveEnds(
  hub: Hub,
  tx: Tx,
  running: readonly Rotation[],
  times: { readonly beforeMs: number; readonly afterMs: number },
): Promise<readonly { readonly rotation: Rotation; readonly endMs: number }[]> {
  const moved: { readonly rotation: Rotation; readonly endMs: number }[] = [];
  for (const rotation of running) {
    const { terms } = rotation;
    const endMs = endAfterAcceptedTime(rotation, { ...times, narrowByMaxMs: limits.narrowByMaxMs });
    if (terms === undefined || endMs === null || endMs === terms.narrowByMs) continue;
    await updateRotation(tx, hub.vault, { ...rotation, terms: { ...terms, narrowByMs: endMs } }, rotation.phase);
    moved.push({ rotation, endMs });
  }
  return moved;
}

function isAnyEnded(hub: Hub, running: readonly Rotation[], beforeMs: number): boolean {
  const now = hub.clock.now();
  return running.some(({ terms }) => {
    const endMs = terms?.narrowByMs ?? null;
    return isWindowOpen(endMs, beforeMs) && !isWindowOpen(endMs, now);
  });
}

/** One that cannot be read lets nobody in by its old version, and is no reason to leave the clock wrong. */
async function listWithEnd(hub: Hub, tx: Tx): Promise<readonly Rotation[]> {
  const names = [...(await listTokenNames(tx)), ...closings];
  const found = await Promise.all(names.map((name) => orUnreadable(findRunning(tx, hub.vault, name))));
  return found.flatMap((rotation) => (rotation === undefined || rotation === 'unreadable' ? [] : [rotation]));
}

function startedBy(rotation: Rotation | undefined, previous: LiveRecord, nowMs: number): boolean {
  return rotation?.from === previous.version && rotation.startedAtMs <= nowMs;
}

/** First use, former lives and tokens are all short: they are closed for everyone, and opened again by whoever needs them. */
async function closeHosts(hub: Hub, tx: Tx): Promise<string[]> {
  const hosts = (await listRoll(tx, hub.vault)).filter((host) => host.status !== 'unreadable');
  const open = hosts.filter((host) => host.first_use_until !== null || host.former_life_until !== null);
  const shut = { first_use_fingerprint: null, first_use_until: null, former_life_until: null };
  await putHosts(
    tx,
    hub.vault,
    open.map((host) => ({ ...host, ...shut })),
  );
  const hadToken = await killEnrolmentTokens(tx);
  return [...new Set([...open.map(({ id }) => id), ...hadToken])].sort();
}
