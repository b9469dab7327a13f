/** Starting a rotation of the master (design 5, "Start"). */

import { RollcallError } from '../errors.ts';
import { assertTimeTrusted, type HubTime } from './hub-time.ts';
import { coverLeave } from './leave.ts';
import { isRunning, type Rotation, type RotationReason } from './phases.ts';
import { type Sweep, strandedByRetiring } from './sweep.ts';

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

/**
 * Decides a start, or throws with the names: `hosts_without_pin`, or `rotation_running` when superseding the
 * rotation before would strand someone. `latest` is the newest rotation of this secret, running or ended.
 */
export function decideStart(
  latest: Rotation | null,
  request: StartRequest,
  sweep: Sweep,
  time: HubTime,
): StartDecision {
  assertTimeTrusted(time);
  if (sweep.currentVersion === null) throw new RollcallError('no_current_version');
  const verifyUntilMs = windowEnd(request, time.nowMs);
  const running = latest !== null && isRunning(latest) ? latest : null;
  assertMayOvertake(running, request, sweep);
  // After a leak every hour counts, so hosts that cannot come along are named, not waited for.
  const concerned = request.reason === 'leak' ? [] : sweep.withoutUsablePin;
  const left = coverLeave({ leave: request.leave, left: [] }, concerned, sweep.roll, 'hosts_without_pin');
  return {
    rotation: {
      id: request.id,
      secret: request.secret,
      from: sweep.currentVersion,
      to: sweep.currentVersion + 1,
      phase: 'widening',
      reason: request.reason,
      startedAtMs: time.nowMs,
      phaseStartedAtMs: time.nowMs,
      left,
      pausedBecause: null,
      canary: null,
    },
    verifyUntilMs,
    destroys: sweep.previousVersion,
    supersedes: running?.id ?? null,
    withoutUsablePin: sweep.withoutUsablePin,
  };
}

/** A start in an open window retires the older version at this moment (I14), so it takes what `retire --now` takes. */
function assertMayOvertake(running: Rotation | null, request: StartRequest, sweep: Sweep): void {
  if (sweep.windowClosed) return;
  if (sweep.examined === 0) throw new RollcallError('rotation_running', { hosts: [] });
  const names = { leave: request.leave, left: running?.left ?? [] };
  coverLeave(names, strandedByRetiring(sweep), sweep.roll, 'rotation_running');
}

function windowEnd({ narrowByMs, verifyWindowMs, beatMs }: StartRequest, nowMs: number): number {
  const untilMs = narrowByMs ?? nowMs + verifyWindowMs;
  if (untilMs >= nowMs + beatMs && untilMs <= nowMs + verifyWindowMs) return untilMs;
  throw new RollcallError('window_out_of_bounds', { minMs: beatMs, maxMs: verifyWindowMs });
}
