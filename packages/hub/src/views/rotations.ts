/** A rotation as an operator sees it (design 8). */
import { readiness as assemble, type HubCheck, hasProven, lacksNothing, type Rotation } from '@rollcall/core/rotation';
import type { ReadinessAnswer, RotationRow, RotationStatus } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { readRotation, viewRoll, viewRotation } from '../operations/rotation/view.ts';
import { findRunning } from '../store/rotations.ts';
import { toTime } from './hosts.ts';

export async function showRotation(hub: Hub, id: string): Promise<RotationStatus> {
  const view = await viewRotation(hub, hub.db, await readRotation(hub, hub.db, id));
  const { rotation, gate } = view;
  const members = view.hosts.filter((host) => !lacksNothing(host));
  const hits = hub.oldHits.read(rotation.from);
  return {
    rotation: toRotationRow(rotation),
    gate: {
      open: gate.open,
      blockers: gate.blockers.map(({ member, missing, sinceMs, hint }) => ({
        member,
        missing,
        since: toTime(sinceMs),
        hint,
      })),
    },
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
    verifyUntil: view.verifyUntilMs === null ? null : toTime(view.verifyUntilMs),
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
  const { id, secret, from, to, phase, reason, startedAtMs, left, pausedBecause } = rotation;
  return { id, secret, from, to, phase, reason, startedAt: toTime(startedAtMs), left: [...left], pausedBecause };
}
