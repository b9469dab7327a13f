/**
 * For how long this process was not there to count who came: its machine was suspended, it was stopped in the middle, or its clock
 * was set forward. That time says nothing about anybody, so it is no part of a quiet window (design 5, Counters).
 */
import { limits } from '@rollcall/core/limits';
import type { HubClock } from './hub-clock.ts';

export interface Attendance {
  /** That the process runs, said once a second by a job of its own: from the first time on, silence is a gap. */
  tick(): void;
  /** In all, up to now. */
  missedMs(): number;
}

export function createAttendance(clock: Pick<HubClock, 'read'>): Attendance {
  let last = clock.read();
  let missedMs = 0;
  let isTicking = false;
  const look = (): void => {
    const now = clock.read();
    const wallMs = now.nowMs - last.nowMs;
    const elapsedMs = now.monotonicMs - last.monotonicMs;
    // Elapsed time counts suspension, and goes on while a process is stopped: of that only its silence tells.
    const gapMs = isTicking && elapsedMs > limits.freshMinMs ? Math.max(wallMs, elapsedMs) : wallMs - elapsedMs;
    if (gapMs > limits.freshMinMs) missedMs += gapMs;
    last = now;
  };
  return {
    tick: () => {
      look();
      isTicking = true;
    },
    missedMs: () => {
      look();
      return missedMs;
    },
  };
}
