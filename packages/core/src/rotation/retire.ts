/** Ending the window of a previous version: `rotation retire` and `rotation cut` (design 5). */

import { RollcallError } from '../errors.ts';
import { coverLeave, type LeaveNames } from './leave.ts';
import { type Sweep, strandedByRetiring } from './sweep.ts';

export interface RetireRequest extends LeaveNames {
  /** `--now`: also in an open window. */
  readonly now: boolean;
}

export interface RetireDecision {
  /** The version whose value is destroyed. */
  readonly destroys: number;
  /** Everyone who is left in the rotation from now on. */
  readonly left: readonly string[];
  /** Hosts that come back by recovery. */
  readonly stranded: readonly string[];
}

/**
 * `rotation retire`. A closed window has stranded whom it could, so the value may go. In an open one it is
 * refused; `--now` needs everything but the window, or `--leave` for those who would be stranded.
 */
export function decideRetire(request: RetireRequest, sweep: Sweep): RetireDecision {
  if (sweep.previousVersion === null) throw new RollcallError('no_previous_version');
  if (!sweep.windowClosed && !request.now) {
    throw new RollcallError('window_open', { untilMs: sweep.previousVerifiesUntilMs });
  }
  if (!sweep.windowClosed && sweep.examined === 0) throw new RollcallError('empty_roll');
  const stranded = strandedByRetiring(sweep);
  const left = coverLeave(request, sweep.windowClosed ? [] : stranded, sweep.roll, 'would_strand');
  return { destroys: sweep.previousVersion, left, stranded };
}

export interface CutRequest extends LeaveNames {
  readonly untilMs: number;
}

export interface CutDecision {
  readonly verifyUntilMs: number;
  /** Everyone who is left in the rotation from now on. */
  readonly left: readonly string[];
  /** Hosts that are cut off at that time if they stay as they are. */
  readonly stranded: readonly string[];
}

/** `rotation cut --until TIME --leave NAME…`: shortens an open window, at most to this moment; never extends one. */
export function decideCut(request: CutRequest, sweep: Sweep, nowMs: number): CutDecision {
  const endsMs = sweep.previousVerifiesUntilMs;
  if (sweep.previousVersion === null) throw new RollcallError('no_previous_version');
  if (sweep.windowClosed || endsMs === null || !(request.untilMs < endsMs)) {
    throw new RollcallError('window_not_shortened', { untilMs: endsMs });
  }
  const stranded = sweep.notProvenOnCurrent;
  const left = coverLeave(request, stranded, sweep.roll, 'would_strand');
  return { verifyUntilMs: Math.max(request.untilMs, nowMs), left, stranded };
}
