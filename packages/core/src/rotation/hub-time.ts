/** The hub's clock: a wall clock with a floor that never moves back (design 6, clocks; I7). */

import { RollcallError } from '../errors.ts';
import { limits } from '../limits.ts';

/** One reading of both clocks of the process. */
export interface ClockReading {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Hub time at one reading. It is the state for the next reading; `floorMs` and `jumped` are what the store keeps. */
export interface HubTime {
  readonly nowMs: number;
  /** No window that closed at or before it ever opens again. */
  readonly floorMs: number;
  /** The wall clock ran further than time: nothing is opened or issued until `hub accept-time`. Sticks. */
  readonly jumped: boolean;
  readonly monotonicMs: number;
}

/** What the store kept; `null` at the very first start. */
export interface StoredHubTime {
  readonly floorMs: number;
  readonly jumped: boolean;
}

/** At start: the later of the stored floor and the wall clock. A floor that cannot be read is not "first start" (I10). */
export function startHubTime(stored: StoredHubTime | null, reading: ClockReading): HubTime {
  const floorMs = stored?.floorMs ?? 0;
  if (!Number.isFinite(floorMs)) throw new RollcallError('unavailable', { because: 'hub_time_unreadable' });
  const nowMs = latest(reading.wallMs, floorMs);
  return { nowMs, floorMs: nowMs, jumped: stored?.jumped ?? false, monotonicMs: reading.monotonicMs };
}

/**
 * The next reading. Time goes on with the monotonic clock at least, so a wall clock that is set back extends no
 * window; one that is set forward by more than `limits.clockJumpMs` closes windows, and is flagged so that it opens none.
 */
export function readHubTime(state: HubTime, reading: ClockReading): HubTime {
  const elapsedMs = Math.max(0, reading.monotonicMs - state.monotonicMs);
  const expectedMs = state.nowMs + elapsedMs;
  const nowMs = latest(reading.wallMs, expectedMs);
  return {
    nowMs,
    floorMs: nowMs,
    jumped: state.jumped || nowMs > expectedMs + limits.clockJumpMs,
    monotonicMs: reading.monotonicMs,
  };
}

/**
 * `hub accept-time`: a person says that the wall clock is right. It may lower the floor; every window
 * that was opened at a hub time above the new one is to be closed with it.
 */
export function acceptHubTime(reading: ClockReading): HubTime {
  if (!Number.isFinite(reading.wallMs)) throw new RollcallError('malformed_time');
  return { nowMs: reading.wallMs, floorMs: reading.wallMs, jumped: false, monotonicMs: reading.monotonicMs };
}

/** Before anything is opened or issued. */
export function assertTimeTrusted(time: HubTime): void {
  if (time.jumped) throw new RollcallError('hub_time_jumped');
}

/** A wall clock that cannot be read moves nothing. */
function latest(wallMs: number, floorMs: number): number {
  return Number.isFinite(wallMs) ? Math.max(wallMs, floorMs) : floorMs;
}
