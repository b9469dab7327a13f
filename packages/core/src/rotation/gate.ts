/** Gates: what evidence is missing before a rotation may leave its phase (design 5). */

import assert from 'node:assert/strict';
import { isWindowOpen } from './generations.ts';
import { type Phase, phases, type Rotation } from './phases.ts';
import { requirementsOf, type SecretKind } from './requirements.ts';
import type { RollHost } from './roll.ts';

/** What was observed at one moment. Give every row of the registry, and every live replica. */
export interface Observations {
  readonly hosts: readonly RollHost[];
  readonly replicas: readonly ReplicaObservation[];
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
  assert(phases[rotation.phase].next !== null, 'an ended rotation has no gate');
  const requirements = requirementsOf(kindOf(rotation.secret), rotation.phase);
  const all = requirements.flatMap((requirement) => requirement(rotation, observations, policy, nowMs));
  const blockers = all.sort(byMember);
  const isReport =
    rotation.reason === 'leak' && gateIsReport.has(rotation.phase) && !isWindowOpen(observations.verifyUntilMs, nowMs);
  if (!isReport) return { open: blockers.length === 0, blockers, cutOff: [] };
  const cutOff = [...new Set(blockers.map((blocker) => blocker.member))];
  return { open: true, blockers: [], cutOff };
}

/** The phases whose evidence comes from hosts; replicas must hold the new version whatever happened. */
const gateIsReport: ReadonlySet<Phase> = new Set(['rolling', 'proving', 'narrowing']);

export function kindOf(secret: string): SecretKind {
  return secret === 'master' ? 'master' : 'named';
}

function byMember(a: Blocker, b: Blocker): number {
  return compare(a.member, b.member) || compare(a.missing, b.missing);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
