/** A rotation as an operator sees it (design 8). */
import { limits } from '@rollcall/core/limits';
import {
  readiness as assemble,
  type Gate,
  type HubCheck,
  hasProven,
  lacksNothing,
  type Rotation,
} from '@rollcall/core/rotation';
import type { ReadinessAnswer, RotationRow, RotationStatus } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { readRotation, viewRoll, viewRotation } from '../operations/rotation/view.ts';
import { viewToken } from '../operations/token/view-token.ts';
import { findRunning } from '../store/rotations.ts';
import { toTime } from './hosts.ts';

export async function showRotation(hub: Hub, id: string): Promise<RotationStatus> {
  const rotation = await readRotation(hub, hub.db, id);
  return rotation.secret === MASTER ? showMaster(hub, rotation) : showToken(hub, rotation);
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
      lastAt: hits.lastAtMs === null ? null : toTime(hits.lastAtMs),
      count: hits.count,
      sources: hits.sources.map(({ host, address, atMs }) => ({ host, address, at: toTime(atMs) })),
    },
    verifyUntil: verifyUntilMs === null ? null : toTime(verifyUntilMs),
  };
}

async function showToken(hub: Hub, stored: Rotation): Promise<RotationStatus> {
  const { rotation, gate, holders } = await viewToken(hub, hub.db, stored);
  const members = holders.filter((holder) => !lacksNothing(holder));
  const callers = members.filter(({ presents }) => presents);
  const verifiers = members.filter(({ verifies }) => verifies);
  const sources = members.flatMap(({ id, sources: seen }) => seen.map((source) => ({ ...source, verifier: id })));
  const newest = sources.sort((a, b) => b.atMs - a.atMs).slice(0, limits.oldHitSources);
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
      count: sources.length,
      sources: newest.map(({ host, address, atMs, verifier, userAgent, route }) => {
        return { host, address, at: toTime(atMs), verifier, userAgent, route };
      }),
    },
    verifyUntil: narrowByMs === null ? null : toTime(narrowByMs),
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
    previousVerifiesUntil: previousVerifiesUntilMs === null ? null : toTime(previousVerifiesUntilMs),
    problems: problems.map(({ code, hosts, hint }) => ({ code, hosts: [...hosts], hint })),
  };
}

export function toRotationRow(rotation: Rotation): RotationRow {
  const { id, secret, from, to, phase, reason, startedAtMs, left, pausedBecause, terms } = rotation;
  const row = { id, secret, from, to, phase, reason, startedAt: toTime(startedAtMs), left: [...left], pausedBecause };
  if (terms === undefined) return row;
  const narrowBy = terms.narrowByMs === null ? null : toTime(terms.narrowByMs);
  return { ...row, terms: { auto: terms.auto, batch: terms.batch, narrowBy } };
}
