/** Moving a rotation along its walk: advance, roll back, leave, and what each refuses (design 5, rules). */

import { RollcallError } from '../errors.ts';
import type { Gate } from './gate.ts';
import { coverLeave } from './leave.ts';
import { isRunning, type Phase, phases, type Rotation } from './phases.ts';

/**
 * One step forward. `expectedPhase` is the phase that the operator saw: of two who advance at once, one is told.
 * Returns what to store; computing it again from the same state gives the same, so a crash in between repeats.
 */
export function decideAdvance(rotation: Rotation, gate: Gate, expectedPhase: Phase, nowMs: number): Rotation {
  const next = phases[rotation.phase].next;
  if (next === null || rotation.phase !== expectedPhase) {
    throw new RollcallError('rotation_moved_on', { phase: rotation.phase });
  }
  if (rotation.pausedBecause !== null) throw new RollcallError('rotation_paused');
  if (!gate.open) {
    throw new RollcallError('gate_closed', { members: [...new Set(gate.blockers.map((blocker) => blocker.member))] });
  }
  return { ...rotation, phase: next, phaseStartedAtMs: nowMs };
}

/** The way back, callers first. The master has none: its way back is a new generation. Works also while paused. */
export function decideRollback(rotation: Rotation, nowMs: number): Rotation {
  // Nor is there one to a version that is to be refused at a time that was said.
  const hasWay = rotation.secret !== 'master' && (rotation.terms?.narrowByMs ?? null) === null;
  const back = hasWay ? phases[rotation.phase].rollback : null;
  if (back === null) throw new RollcallError('no_rollback', { phase: rotation.phase });
  return { ...rotation, phase: back, phaseStartedAtMs: nowMs, pausedBecause: null };
}

/** `rotation leave ID NAME…`, later than at the start. `members`: the roll, or whoever holds the token. */
export function decideLeave(rotation: Rotation, names: readonly string[], members: readonly string[]): Rotation {
  if (!isRunning(rotation)) throw new RollcallError('rotation_moved_on', { phase: rotation.phase });
  return { ...rotation, left: coverLeave({ leave: names, left: rotation.left }, [], members, 'would_strand') };
}
