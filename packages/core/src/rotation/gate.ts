/** Gates: what evidence is missing before a rotation may leave its phase (design 5). */

import assert from 'node:assert/strict';
import { isWindowOpen } from './generations.ts';
import type { Holder } from './holder.ts';
import { isRunning, type Phase, type Rotation } from './phases.ts';
import type { References } from './references.ts';
import { missingFor } from './requirements.ts';
import type { RollHost } from './roll.ts';
import { oldTokenVerifies } from './token-start.ts';

/** What was observed at one moment. Give every row of the registry, and every live replica. */
export interface Observations {
  readonly hosts: readonly RollHost[];
  /** Of a shared token: everyone who takes or sends it. */
  readonly holders: readonly Holder[];
  readonly replicas: readonly ReplicaObservation[];
  /** Of a shared token: what the last scan of the scan roots found; `null`: none is configured, so none is required. */
  readonly references: References | null;
  /** When the old version stops verifying; `null`, 0 or unreadable: it has (I7). */
  readonly verifyUntilMs: number | null;
}

export interface ReplicaObservation {
  readonly id: string;
  /** The versions that it was seen to take. */
  readonly holds: readonly number[];
  readonly sinceMs: number;
}

export interface GatePolicy {
  /** For tokens: how long no retiring hit may have been seen. The master has no quiet window. */
  readonly quietWindowMs: number;
  /** How old a verifier's last report may be. */
  readonly reportedWithinMs: number;
}

export interface Blocker {
  readonly member: string;
  /** A stable code of what is missing. */
  readonly missing: string;
  readonly sinceMs: number;
  readonly hint: string;
}

export interface Gate {
  readonly open: boolean;
  /** Sorted by member, then by what is missing. */
  readonly blockers: readonly Blocker[];
  /** After a leak, when the window has closed, nobody holds the gate: these were cut off, and come back by recovery. */
  readonly cutOff: readonly string[];
}

/** Evaluates the gate out of the rotation's phase. */
export function evaluateGate(rotation: Rotation, observations: Observations, policy: GatePolicy, nowMs: number): Gate {
  assert(isRunning(rotation), 'an ended rotation has no gate');
  const blockers = inOrder(missingFor(rotation, observations, policy, nowMs));
  if (!isReport(rotation, observations, nowMs)) return { open: blockers.length === 0, blockers, cutOff: [] };
  // Members alone can be cut off: no repository, and nobody where nobody was there to ask.
  const members = new Set([...observations.hosts, ...observations.holders].map(({ id }) => id));
  const lacking = new Set(blockers.map((blocker) => blocker.member));
  return { open: true, blockers: [], cutOff: [...lacking].filter((member) => members.has(member)) };
}

/** The phases whose evidence comes from the roll. Replicas must hold the new version whatever happened. */
const answeredByTheRoll: ReadonlySet<Phase> = new Set(['rolling', 'proving', 'narrowing']);

/**
 * Whether the gate only reports who was cut off: after a leak, once the old version is refused whoever presents it, a
 * thief must not hold the rotation open (design 5). An empty roll is still no evidence (I6).
 */
function isReport(rotation: Rotation, { hosts, holders, verifyUntilMs }: Observations, nowMs: number): boolean {
  if (rotation.reason !== 'leak' || !answeredByTheRoll.has(rotation.phase)) return false;
  if (rotation.secret !== 'master') return holders.length > 0 && !oldTokenVerifies(rotation, nowMs);
  return hosts.length > 0 && !isWindowOpen(verifyUntilMs, nowMs);
}

/**
 * By member, then by what is missing; each once, also when two requirements found the same. A registry gives its rows in order, so
 * that little is left to sort: no key is made for a lookup, of which a large fleet had hundreds of thousands.
 */
export function inOrder(blockers: Blocker[]): readonly Blocker[] {
  blockers.sort(compareBlockers);
  return blockers.filter((blocker, at) => {
    const next = blockers[at + 1];
    return next === undefined || compareBlockers(blocker, next) !== 0;
  });
}

function compareBlockers(a: Blocker, b: Blocker): number {
  if (a.member !== b.member) return a.member < b.member ? -1 : 1;
  if (a.missing !== b.missing) return a.missing < b.missing ? -1 : 1;
  return 0;
}
