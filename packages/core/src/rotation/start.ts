/** Starting a rotation of the master (design 5, "Start"). */

import { RollcallError } from '../errors.ts';
import { currentGeneration, type Generation, isWindowOpen, previousGeneration } from './generations.ts';
import type { HubTime } from './hub-time.ts';
import { assertTimeTrusted } from './hub-time.ts';
import { coverLeave } from './leave.ts';
import { isRunning, type Rotation, type RotationReason } from './phases.ts';
import type { RollHost } from './roll.ts';
import { retireNow, type Sweep, strandedByRetiring } from './sweep.ts';

export interface StartState {
  readonly generations: readonly Generation[];
  /** The newest rotation of this secret, running or ended; `null` when there was none. */
  readonly rotation: Rotation | null;
  /** Every host of the roll. */
  readonly hosts: readonly RollHost[];
}

export interface StartRequest {
  readonly id: string;
  readonly secret: string;
  readonly reason: RotationReason;
  readonly leave: readonly string[];
  /** When the old version is refused; `null`: after the verify window of the policy. */
  readonly narrowByMs: number | null;
  readonly verifyWindowMs: number;
  /** The window is at least one heartbeat interval, or no host could come along. */
  readonly beatMs: number;
}

export interface StartDecision {
  /** In `widening`. Make the new generation durable before anything uses it. */
  readonly rotation: Rotation;
  /** `verify_until` of the version that was current, which becomes `previous`. */
  readonly verifyUntilMs: number;
  /** The older version whose value is destroyed, so that two live at most (I14). */
  readonly destroys: number | null;
  /** The id of the running rotation that this one supersedes. */
  readonly supersedes: string | null;
  /** Hosts without a usable pin: they cannot come along, and readiness stays false for them. */
  readonly withoutUsablePin: readonly string[];
}

/** Decides a start, or throws `hosts_without_pin`, `rotation_running`, …, with the names. */
export function decideStart(state: StartState, request: StartRequest, sweep: Sweep, time: HubTime): StartDecision {
  assertTimeTrusted(time);
  const current = currentGeneration(state.generations);
  if (current === null) throw new RollcallError('not_found', { secret: request.secret });
  const verifyUntilMs = windowEnd(request, time.nowMs);

  const previous = previousGeneration(state.generations);
  const overtakes = previous !== null && isWindowOpen(previous.verifyUntilMs, time.nowMs);
  const stranded = overtakes ? strandedByRetiring(sweep) : [];
  const leftBefore = overtakes && isRunning(state.rotation) ? state.rotation.left : [];
  // Superseding retires the older version at this moment, so it takes what `retire --now` takes.
  if (overtakes && !retireNow(sweep)) {
    if (sweep.examined === 0) throw new RollcallError('rotation_running', { hosts: [] });
    coverLeave({ leave: request.leave, leftBefore }, stranded, state.hosts, 'rotation_running');
  }
  const unpinned = request.reason === 'leak' ? [] : sweep.withoutUsablePin;
  const left = coverLeave({ leave: request.leave, leftBefore: [] }, unpinned, state.hosts, 'hosts_without_pin');

  return {
    rotation: {
      id: request.id,
      secret: request.secret,
      from: current.version,
      to: current.version + 1,
      phase: 'widening',
      reason: request.reason,
      startedAtMs: time.nowMs,
      phaseStartedAtMs: time.nowMs,
      left,
      pausedBecause: null,
      canary: null,
    },
    verifyUntilMs,
    destroys: previous?.version ?? null,
    supersedes: isRunning(state.rotation) ? state.rotation.id : null,
    withoutUsablePin: sweep.withoutUsablePin,
  };
}

function windowEnd({ narrowByMs, verifyWindowMs, beatMs }: StartRequest, nowMs: number): number {
  const untilMs = narrowByMs ?? nowMs + verifyWindowMs;
  if (untilMs >= nowMs + beatMs && untilMs <= nowMs + verifyWindowMs) return untilMs;
  throw new RollcallError('window_out_of_bounds', { minMs: beatMs, maxMs: verifyWindowMs });
}
