/** Ending the window of a previous version: `rotation retire` and `rotation cut` (design 5). */

import { RollcallError } from '../errors.ts';
import { type Generation, isWindowOpen, previousGeneration } from './generations.ts';
import { coverLeave } from './leave.ts';
import type { RollHost } from './roll.ts';
import { retireNow, type Sweep, strandedByRetiring } from './sweep.ts';

export interface RetireRequest {
  readonly now: boolean;
  readonly leave: readonly string[];
}

/** Who was left in the rotation before, and everyone who may be. */
export interface LeaveState {
  readonly left: readonly string[];
  readonly hosts: readonly RollHost[];
}

export interface RetireDecision {
  /** The version whose value is destroyed. */
  readonly destroys: number;
  /** Everyone who is left from now on. */
  readonly left: readonly string[];
  /** Hosts that come back by recovery. */
  readonly stranded: readonly string[];
}

/**
 * `rotation retire`: a closed window has stranded whom it could, so the value goes. In an open one it is
 * refused; `--now` needs everything but the window, or `--leave` for those who would be stranded.
 */
export function decideRetire(
  state: LeaveState,
  request: RetireRequest,
  sweep: Sweep,
  generations: readonly Generation[],
  nowMs: number,
): RetireDecision {
  const previous = previousGeneration(generations);
  if (previous === null) throw new RollcallError('no_previous_version');
  const stranded = strandedByRetiring(sweep);
  const names = { leave: request.leave, leftBefore: state.left };
  if (!isWindowOpen(previous.verifyUntilMs, nowMs)) {
    return { destroys: previous.version, left: coverLeave(names, [], state.hosts, 'would_strand'), stranded };
  }
  if (!request.now) {
    throw new RollcallError('window_open', { until: new Date(previous.verifyUntilMs ?? 0).toISOString() });
  }
  if (sweep.examined === 0) throw new RollcallError('empty_roll');
  const concerned = retireNow(sweep) ? [] : stranded;
  return { destroys: previous.version, left: coverLeave(names, concerned, state.hosts, 'would_strand'), stranded };
}

export interface CutRequest {
  readonly untilMs: number;
  readonly leave: readonly string[];
}

export interface CutDecision {
  readonly verifyUntilMs: number;
  readonly left: readonly string[];
  readonly stranded: readonly string[];
}

/** `rotation cut --until TIME --leave NAME…`: shortens an open window, never to before this moment; never extends it. */
export function decideCut(
  state: LeaveState,
  request: CutRequest,
  sweep: Sweep,
  generations: readonly Generation[],
  nowMs: number,
): CutDecision {
  const previous = previousGeneration(generations);
  if (previous === null) throw new RollcallError('no_previous_version');
  const endsMs = previous.verifyUntilMs;
  if (endsMs === null || !isWindowOpen(endsMs, nowMs) || !(request.untilMs < endsMs)) {
    throw new RollcallError('window_not_shortened');
  }
  const stranded = sweep.notProvenOnCurrent;
  const names = { leave: request.leave, leftBefore: state.left };
  const left = coverLeave(names, stranded, state.hosts, 'would_strand');
  return { verifyUntilMs: Math.max(request.untilMs, nowMs), left, stranded };
}
