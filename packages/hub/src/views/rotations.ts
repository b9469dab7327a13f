/** A rotation as an operator sees it (design 8). */
import { limits } from '@rollcall/core/limits';
import {
  readiness as assemble,
  type Gate,
  type Holder,
  type HubCheck,
  hasProven,
  isRunning,
  keepFairly,
  lacksNothing,
  type Rotation,
  retiringVersion,
} from '@rollcall/core/rotation';
import { acceptedRungs, rungOfClosing, rungsAbove, whoNeeds } from '@rollcall/core/rungs';
import { networkOf, type ReadinessAnswer, type RotationRow, type RotationStatus } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { readRotation, viewRoll, viewRotation } from '../operations/rotation/view.ts';
import { viewClosing } from '../operations/rungs/closing-subject.ts';
import { viewToken } from '../operations/token/view-token.ts';
import { findRunning } from '../store/rotations.ts';
import { toTime, toTimeOrNull } from './hosts.ts';

export async function showRotation(hub: Hub, id: string): Promise<RotationStatus> {
  const rotation = await readRotation(hub, hub.db, id);
  if (rotation.secret === MASTER) return showMaster(hub, rotation);
  return rungOfClosing(rotation.secret) === undefined ? showToken(hub, rotation) : showClosing(hub, rotation);
}

async function showMaster(hub: Hub, stored: Rotation): Promise<RotationStatus> {
  const { rotation, gate, hosts, verifyUntilMs } = await viewRotation(hub, hub.db, stored);
  const members = hosts.filter((host) => !lacksNothing(host));
  const hits = hub.oldHits.read(rotation.from);
  return {
    rotation: toRotationRow(rotation),
    gate: toGateRow(gate),
    progress: {
      // Verifiers of the master's bearers are the hub's replicas: one here, and it holds both from the start.
      widened: 1,
      rolled: members.filter((host) => host.switched).length,
      proven: members.filter((host) => hasProven(host, rotation.to)).length,
      total: members.length,
    },
    retiringHits: {
      lastAt: toTimeOrNull(hits.lastAtMs),
      count: hits.count,
      sources: hits.sources.map(({ host, address, atMs }) => ({ host, proven: true, address, at: toTime(atMs) })),
    },
    verifyUntil: toTimeOrNull(verifyUntilMs),
  };
}

async function showToken(hub: Hub, stored: Rotation): Promise<RotationStatus> {
  const { rotation, gate, holders } = await viewToken(hub, hub.db, stored);
  const members = holders.filter((holder) => !lacksNothing(holder));
  const callers = members.filter(({ presents }) => presents);
  const verifiers = members.filter(({ verifies }) => verifies);
  const sources = members.flatMap(({ id, sources: seen }) => seen.map((source) => ({ ...source, verifier: id })));
  const newestFirst = sources.sort((a, b) => b.atMs - a.atMs);
  const newest = keepFairly(newestFirst, limits.oldHitSources, ({ address }) => networkOf(address));
  const narrowByMs = rotation.terms?.narrowByMs ?? null;
  return {
    rotation: toRotationRow(rotation),
    gate: toGateRow(gate),
    progress: {
      // Behind widening every one of them was probed, or was left.
      widened: verifiers.filter(({ probe }) => rotation.phase !== 'widening' || probe?.takes.includes(rotation.to))
        .length,
      rolled: callers.filter(({ switched }) => switched).length,
      proven: callers.filter(({ provenVersion }) => provenVersion === rotation.to).length,
      total: callers.length,
    },
    retiringHits: {
      lastAt: newest[0] === undefined ? null : toTime(newest[0].atMs),
      count: Math.max(
        hitsOf(hub, rotation, members),
        // Who was named has sent it once at least, also where its count was first reported after that.
        sources.filter(({ atMs }) => atMs >= rotation.startedAtMs).length,
      ),
      sources: newest.map(({ host, proven, address, atMs, verifier, userAgent, route }) => {
        const named = proven === undefined ? { host } : { host, proven };
        return { ...named, address, at: toTime(atMs), verifier, userAgent, route };
      }),
    },
    verifyUntil: toTimeOrNull(narrowByMs),
  };
}

/** How often the version that goes came to all verifiers, as far as they have counted and said so. */
function hitsOf(hub: Hub, rotation: Rotation, members: readonly Holder[]): number {
  if (!isRunning(rotation)) return 0;
  const { secret } = rotation;
  const version = retiringVersion(rotation);
  const hits = members.map(({ id, kind }) => {
    if (kind === 'replica') return hub.tokenHits.count(secret, version, hub.clock.now()).hits;
    return kind === 'host' ? hub.tokenReports.hits(id, secret, version) : 0;
  });
  // Each is what a host says, and may be any number.
  return Math.min(
    hits.reduce((sum, count) => sum + count, 0),
    Number.MAX_SAFE_INTEGER,
  );
}

/** Of a rung: nothing is widened or rolled by the hub, so that what was allowed and what was seen is said. */
async function showClosing(hub: Hub, stored: Rotation): Promise<RotationStatus> {
  const { rotation, gate, fleet, hosts, sightings } = await viewClosing(hub, hub.db, stored);
  const rung = rungOfClosing(rotation.secret) ?? 'fleet-token';
  const members = hosts.filter(({ status, policy }) => status !== 'evicted' && policy[rung] === undefined);
  const above = rungsAbove(rung);
  const higher = members.filter(({ policy }) => acceptedRungs(fleet, policy).some((other) => above.includes(other)));
  const seen = members.length - whoNeeds(rung, fleet, members).length;
  const narrowByMs = rotation.terms?.narrowByMs ?? null;
  const newest = sightings.sources[0];
  return {
    rotation: toRotationRow(rotation),
    gate: toGateRow(gate),
    progress: { widened: higher.length, rolled: seen, proven: seen, total: members.length },
    retiringHits: {
      lastAt: newest === undefined ? null : toTime(newest.atMs),
      count: sightings.count,
      sources: sightings.sources.map(({ atMs, ...source }) => ({ ...source, at: toTime(atMs) })),
    },
    verifyUntil: toTimeOrNull(narrowByMs),
  };
}

function toGateRow({ open, blockers }: Gate): RotationStatus['gate'] {
  return {
    open,
    blockers: blockers.map(({ member, missing, sinceMs, hint }) => ({ member, missing, since: toTime(sinceMs), hint })),
  };
}

export async function showReadiness(hub: Hub, checks: readonly HubCheck[]): Promise<ReadinessAnswer> {
  const running = (await findRunning(hub.db, hub.vault, MASTER)) ?? null;
  const { sweep } = await viewRoll(hub, hub.db, running);
  const { previousVerifiesUntilMs, problems, ...counts } = assemble(sweep, checks);
  return {
    ...counts,
    previousVerifiesUntil: toTimeOrNull(previousVerifiesUntilMs),
    problems: problems.map(({ code, hosts, hint }) => ({ code, hosts: [...hosts], hint })),
  };
}

export function toRotationRow(rotation: Rotation): RotationRow {
  const { id, secret, from, to, phase, reason, startedAtMs, left, pausedBecause, terms } = rotation;
  const row = { id, secret, from, to, phase, reason, startedAt: toTime(startedAtMs), left: [...left], pausedBecause };
  if (terms === undefined) return row;
  const narrowBy = toTimeOrNull(terms.narrowByMs);
  return { ...row, terms: { auto: terms.auto, batch: terms.batch, narrowBy } };
}
