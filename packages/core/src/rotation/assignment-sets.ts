/** Which versions a host accepts and presents, in every phase of a rotation (design 4, 5), and containment (I1). */

import { retiringVersion } from './holder.ts';
import { isRunning, type Phase, phases, type Rotation, type Side } from './phases.ts';

export interface AssignmentSets {
  /** Newest first, at most two (I14). */
  readonly accept: readonly number[];
  readonly present: number;
  /** What this step drops, for a host that asks its own listener; absent where that is nothing. */
  readonly refuse?: readonly number[];
}

/** What the assignment of one host depends on, beside the rotation. */
export interface AssignedHost {
  /** Its turn to present the new version has come (`planWave`). */
  readonly switched: boolean;
}

/**
 * The assignment of one host for one secret. It follows from the phase alone, so a host that joins, re-enrols or is
 * re-pinned in any phase gets exactly that phase's; without a rotation it is the current version only. `oldVerifies`:
 * whether the window of the old version is open. Once it has closed nobody is given the old one any more, in no phase.
 */
export function assignmentSets(
  rotation: Rotation | null,
  currentVersion: number,
  host: AssignedHost,
  oldVerifies: boolean,
): AssignmentSets {
  if (rotation === null) return { accept: [currentVersion], present: currentVersion };
  if (!oldVerifies) return { accept: [rotation.to], present: rotation.to, ...refused(rotation, rotation.from) };
  const { callerPresents, verifierAccepts } = phases[rotation.phase];
  const side = host.switched ? callerPresents.after : callerPresents.before;
  const accept = rotation.secret === 'master' ? masterAccepts(rotation, side, verifierAccepts) : verifierAccepts;
  return {
    accept: accept.map((accepted) => versionOf(rotation, accepted)).sort((a, b) => b - a),
    present: versionOf(rotation, side),
    ...(DROPPING.has(rotation.phase) ? refused(rotation, retiringVersion(rotation)) : {}),
  };
}

/**
 * The versions with which the hub calls a host, in the order in which it tries them after a 401: those that verify now and
 * that this host was delivered, newest first. The response with the newest may have been lost, and a host that has just
 * enrolled has proven none, so what it has proven would not do. One that it was never delivered is not sent to it.
 */
export function commandVersions(newestDelivered: number, liveVersions: readonly number[]): readonly number[] {
  return liveVersions.filter((version) => version <= newestDelivered).sort((a, b) => b - a);
}

/** I1: whether every version that callers present is among those that a verifier accepts. */
export function contains(accepts: readonly number[], presents: readonly number[]): boolean {
  return presents.every((version) => accepts.includes(version));
}

/**
 * The master is widened at the hub's replicas. A host takes both from its own switch on; of commands it verifies what
 * the hub delivered to it. After a leak the new one comes alone: its thief must not command a host that has it.
 */
function masterAccepts(rotation: Rotation, presents: Side, verifierAccepts: readonly Side[]): readonly Side[] {
  return presents === 'old' || rotation.reason === 'leak' ? [presents] : verifierAccepts;
}

/** What these drop is what their gates ask each verifier to refuse. */
const DROPPING: ReadonlySet<Phase> = new Set(['narrowing', 'withdrawing']);

/** While it runs: the last step forgets it. Of the master hosts verify commands alone, and the hub does not probe those. */
function refused(rotation: Rotation, version: number): Pick<AssignmentSets, 'refuse'> {
  return rotation.secret === 'master' || !isRunning(rotation) ? {} : { refuse: [version] };
}

function versionOf(rotation: Rotation, side: Side): number {
  return side === 'old' ? rotation.from : rotation.to;
}
