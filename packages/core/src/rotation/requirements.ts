/** What each gate requires: one table of requirement functions per kind of secret and phase (design 5). */

import assert from 'node:assert/strict';
import type { Blocker, GatePolicy, Observations } from './gate.ts';
import { isWindowOpen } from './generations.ts';
import { hintForSilence, hintForStanding, hintForUnreadable } from './hints.ts';
import type { Phase, Rotation } from './phases.ts';
import { everyReferenceCurrent } from './references.ts';
import { hasProven, lacksNothing, type RollHost } from './roll.ts';
import {
  everyCallerSeen,
  everyCounterQuiet,
  everySinkCurrent,
  everySinkTold,
  everyVerifierDropped,
  everyVerifierTakesBoth,
} from './token-gates.ts';

/** Secrets of one kind have the same gates. */
export type SecretKind = 'master' | 'named';

/** Returns a blocker for each member that lacks it, and at least one when there was nobody to ask (I6). */
export type Requirement = (
  rotation: Rotation,
  observations: Observations,
  policy: GatePolicy,
  nowMs: number,
) => readonly Blocker[];

const table: Readonly<Record<SecretKind, Partial<Record<Phase, readonly Requirement[]>>>> = {
  // Verifiers are the hub's replicas, callers the hosts.
  master: {
    planned: [],
    widening: [everyReplicaHoldsLive],
    rolling: [everyHostReadable, everyHostProven],
    proving: [
      everyHostReadable,
      everyHostProven,
      everyHostAttributed,
      everyHostPinned,
      nobodyPresentsOld,
      windowClosed,
    ],
    narrowing: [everyHostReadable, everyHostNarrowed],
  },
  // Verifiers are the hub's replicas and the listeners of hosts, callers the hosts and whoever is declared. The three signals of
  // proving are counters, digests and references.
  named: {
    planned: [],
    widening: [everyVerifierTakesBoth, everySinkTold],
    rolling: [everyCallerSeen],
    proving: [everyCallerSeen, everyCounterQuiet, everySinkCurrent, everyReferenceCurrent],
    narrowing: [everyVerifierDropped, everySinkTold],
    // The way back gives up a version, too, so it asks for the same.
    reverting: [everyCallerSeen, everyCounterQuiet, everySinkCurrent, everyReferenceCurrent],
    withdrawing: [everyVerifierDropped, everySinkTold],
  },
};

/** A kind or phase without a row has no gate that could open. */
export function requirementsOf(kind: SecretKind, phase: Phase): readonly Requirement[] {
  const requirements = table[kind][phase];
  assert(requirements !== undefined, `no gate is defined for ${kind} in ${phase}`);
  return requirements;
}

/** Both versions; the old one only while it verifies, or a hub that was down for the whole window could never go on. */
function everyReplicaHoldsLive(
  rotation: Rotation,
  { replicas, verifyUntilMs }: Observations,
  _policy: GatePolicy,
  nowMs: number,
): readonly Blocker[] {
  if (replicas.length === 0) return [nobody('hub', 'no_live_replica', rotation, 'Start a replica of the hub.')];
  const wanted = isWindowOpen(verifyUntilMs, nowMs) ? [rotation.from, rotation.to] : [rotation.to];
  return replicas
    .filter((replica) => !wanted.every((version) => replica.holds.includes(version)))
    .map((replica) => ({
      member: replica.id,
      missing: 'replica_holds_both',
      sinceMs: replica.sinceMs,
      hint: 'The replica has not loaded the new version yet. If it stays so, restart it or take it away.',
    }));
}

/** What cannot be read is no evidence of anything, so it holds the gate as a host does that has proven nothing. */
function everyHostReadable(rotation: Rotation, observations: Observations): readonly Blocker[] {
  return lacking(rotation, observations, 'readable_rows', hintForUnreadable);
}

function everyHostProven(rotation: Rotation, observations: Observations): readonly Blocker[] {
  return lacking(rotation, observations, 'proof_of_new', (host) =>
    hasProven(host, rotation.to) ? null : hintForUnproven(host),
  );
}

function everyHostAttributed(rotation: Rotation, observations: Observations): readonly Blocker[] {
  return lacking(rotation, observations, 'attribution', (host) =>
    host.provenVersion === null ? 'No verifier has seen which version it holds.' : null,
  );
}

function everyHostPinned(rotation: Rotation, observations: Observations): readonly Blocker[] {
  const hint = 'Enrol it, or approve its key with `rollcall pin approve`.';
  return lacking(rotation, observations, 'usable_pin', (host) => (host.pin === 'usable' ? null : hint));
}

/** After a leak whoever still presents the old version may be the thief, and has no say. */
function nobodyPresentsOld(rotation: Rotation, observations: Observations): readonly Blocker[] {
  if (rotation.reason === 'leak') return [];
  return lacking(rotation, observations, 'old_version_silent', (host) =>
    host.presentingOld ? 'It went back to the old version: two instances, or a restored disk?' : null,
  );
}

function windowClosed(rotation: Rotation, { verifyUntilMs }: Observations, _: GatePolicy, nowMs: number) {
  if (verifyUntilMs === null || !isWindowOpen(verifyUntilMs, nowMs)) return [];
  const until = new Date(verifyUntilMs).toISOString();
  const hint = `The old version verifies until ${until}. Wait, or shorten it with \`rollcall rotation cut\`.`;
  return [{ member: rotation.secret, missing: 'window_closed', sinceMs: rotation.startedAtMs, hint }];
}

function everyHostNarrowed(rotation: Rotation, observations: Observations): readonly Blocker[] {
  return lacking(rotation, observations, 'narrowed_step', (host) =>
    host.narrowed ? null : hintForSilence(host, 'and has not reported that it dropped the old version'),
  );
}

/** Asks every host of the roll. Those left and those evicted never block, but they were asked. */
function lacking(
  rotation: Rotation,
  { hosts }: Observations,
  missing: string,
  hintIfLacking: (host: RollHost) => string | null,
): readonly Blocker[] {
  if (hosts.length === 0) return [nobody('roll', 'empty_roll', rotation, 'A pass over nothing is not readiness.')];
  const left = new Set(rotation.left);
  const blockers: Blocker[] = [];
  for (const host of hosts) {
    const hint = hintIfLacking(host);
    if (hint === null || lacksNothing(host) || left.has(host.id)) continue;
    blockers.push({ member: host.id, missing, sinceMs: rotation.phaseStartedAtMs, hint });
  }
  return blockers;
}

function nobody(member: string, missing: string, rotation: Rotation, hint: string): Blocker {
  return { member, missing, sinceMs: rotation.phaseStartedAtMs, hint };
}

function hintForUnproven(host: RollHost): string {
  return hintForStanding(host) ?? hintForSilence(host, 'and has not used the new version yet');
}
