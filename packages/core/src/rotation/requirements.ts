/** What each gate requires: one table of requirement functions per kind of secret and phase (design 5). */

import assert from 'node:assert/strict';
import type { Blocker, GatePolicy, Observations } from './gate.ts';
import { isWindowOpen } from './generations.ts';
import { hintForSilence, hintForStanding, hintForUnreadable } from './hints.ts';
import type { Holder } from './holder.ts';
import { type Asked, type MemberRequirement, membersLacking } from './members.ts';
import type { Phase, Rotation } from './phases.ts';
import { everyReferenceCurrent } from './references.ts';
import { hasProven, type RollHost } from './roll.ts';
import {
  everyCallerSeen,
  everyCounterQuiet,
  everySinkCurrent,
  everySinkTold,
  everyVerifierDropped,
  everyVerifierTakesBoth,
} from './token-gates.ts';

/** What is asked besides of no member, or of those who are none of the roll. Returns a blocker for each thing that is missing. */
export type Requirement = (
  rotation: Rotation,
  observations: Observations,
  policy: GatePolicy,
  nowMs: number,
) => readonly Blocker[];

interface Requirements<Member extends RollHost> {
  readonly ofMembers: readonly MemberRequirement<Member>[];
  readonly besides: readonly Requirement[];
}

type Table<Member extends RollHost> = Partial<Record<Phase, Requirements<Member>>>;

/** Verifiers are the hub's replicas, callers the hosts. */
const ofMaster: Table<RollHost> = {
  planned: { ofMembers: [], besides: [] },
  widening: { ofMembers: [], besides: [everyReplicaHoldsLive] },
  rolling: { ofMembers: [everyHostReadable, everyHostProven], besides: [] },
  proving: {
    ofMembers: [everyHostReadable, everyHostProven, everyHostAttributed, everyHostPinned, nobodyPresentsOld],
    besides: [windowClosed],
  },
  narrowing: { ofMembers: [everyHostReadable, everyHostNarrowed], besides: [] },
};

/**
 * Verifiers are the hub's replicas and the listeners of hosts, callers the hosts and whoever is declared. The three signals of
 * proving are counters, digests and references.
 */
const ofNamed: Table<Holder> = {
  planned: { ofMembers: [], besides: [] },
  widening: { ofMembers: [everyVerifierTakesBoth, everySinkTold], besides: [] },
  rolling: { ofMembers: [everyCallerSeen], besides: [] },
  proving: { ofMembers: [everyCallerSeen, everyCounterQuiet, everySinkCurrent], besides: [everyReferenceCurrent] },
  narrowing: { ofMembers: [everyVerifierDropped, everySinkTold], besides: [] },
  // The way back gives up a version, too, so it asks for the same.
  reverting: { ofMembers: [everyCallerSeen, everyCounterQuiet, everySinkCurrent], besides: [everyReferenceCurrent] },
  withdrawing: { ofMembers: [everyVerifierDropped, everySinkTold], besides: [] },
};

/** All that is missing before the rotation may leave its phase, in no order. A kind or phase without a row has no gate that could open. */
export function missingFor(
  rotation: Rotation,
  observations: Observations,
  policy: GatePolicy,
  nowMs: number,
): Blocker[] {
  const find = <Member extends RollHost>(table: Table<Member>, members: readonly Member[]) => {
    const requirements = table[rotation.phase];
    assert(requirements !== undefined, `no gate is defined for ${rotation.secret} in ${rotation.phase}`);
    const asked = requirements.ofMembers.map((requirement) => requirement(rotation, observations, policy, nowMs));
    const besides = requirements.besides.flatMap((requirement) => requirement(rotation, observations, policy, nowMs));
    return [...membersLacking(rotation, members, asked), ...besides];
  };
  return rotation.secret === 'master' ? find(ofMaster, observations.hosts) : find(ofNamed, observations.holders);
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
function everyHostReadable(rotation: Rotation): Asked<RollHost> {
  return everyHost(rotation, 'readable_rows', hintForUnreadable);
}

function everyHostProven(rotation: Rotation): Asked<RollHost> {
  return everyHost(rotation, 'proof_of_new', (host) => (hasProven(host, rotation.to) ? null : hintForUnproven(host)));
}

function everyHostAttributed(rotation: Rotation): Asked<RollHost> {
  return everyHost(rotation, 'attribution', (host) =>
    host.provenVersion === null ? 'No verifier has seen which version it holds.' : null,
  );
}

function everyHostPinned(rotation: Rotation): Asked<RollHost> {
  const hint = 'Enrol it, or approve its key with `rollcall pin approve`.';
  return everyHost(rotation, 'usable_pin', (host) => (host.pin === 'usable' ? null : hint));
}

/** After a leak whoever still presents the old version may be the thief, and has no say. */
function nobodyPresentsOld(rotation: Rotation): Asked<RollHost> {
  return everyHost(rotation, 'old_version_silent', (host) =>
    host.presentingOld && rotation.reason !== 'leak'
      ? 'It went back to the old version: two instances, or a restored disk?'
      : null,
  );
}

function everyHostNarrowed(rotation: Rotation): Asked<RollHost> {
  return everyHost(rotation, 'narrowed_step', (host) =>
    host.narrowed ? null : hintForSilence(host, 'and has not reported that it dropped the old version'),
  );
}

/** `hintFor`: `null` of a host that does not lack it. */
function everyHost(rotation: Rotation, missing: string, hintFor: (host: RollHost) => string | null): Asked<RollHost> {
  return {
    isAsked: () => true,
    lackOf: (host) => {
      const hint = hintFor(host);
      return hint === null ? null : { missing, hint };
    },
    ifNobody: nobody('roll', 'empty_roll', rotation, 'A pass over nothing is not readiness.'),
  };
}

function windowClosed(rotation: Rotation, { verifyUntilMs }: Observations, _: GatePolicy, nowMs: number) {
  if (verifyUntilMs === null || !isWindowOpen(verifyUntilMs, nowMs)) return [];
  const until = new Date(verifyUntilMs).toISOString();
  const hint = `The old version verifies until ${until}. Wait, end it at once with \`rollcall rotation retire --now\`, or set an earlier end with \`rollcall rotation cut\`.`;
  return [{ member: rotation.secret, missing: 'window_closed', sinceMs: rotation.startedAtMs, hint }];
}

function nobody(member: string, missing: string, rotation: Rotation, hint: string): Blocker {
  return { member, missing, sinceMs: rotation.phaseStartedAtMs, hint };
}

function hintForUnproven(host: RollHost): string {
  return hintForStanding(host) ?? hintForSilence(host, 'and has not used the new version yet');
}
