/** The machine's clocks as the `Clock` port. */
import { uptime } from 'node:os';
import type { Clock } from '@rollcall/core/ports';

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: createBootTime({
      running: () => performance.now(),
      wall: () => Date.now(),
      boot: () => uptime() * 1_000,
    }),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const done = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener('abort', done, { once: true });
      }),
    after: (ms, task) => {
      const timer = setTimeout(task, ms);
      return () => clearTimeout(timer);
    },
  };
}

/** In milliseconds, each from an origin of its own. */
export interface ElapsedTimes {
  /** Stands still while the machine is suspended. */
  readonly running: () => number;
  /** May be set. */
  readonly wall: () => number;
  /** Counts suspension. To ask for it reads a file. */
  readonly boot: () => number;
}

/** What the coarse clock (10 ms on Linux) must be ahead before it counts as a suspension. */
const SUSPENSION_MS = 1_000;
const LOOK_EVERY_MS = 1_000;

/**
 * Elapsed time that counts suspension: the process's clock stands still then, the system's uptime does not. Without it a
 * machine that slept for longer than `limits.clockJumpMs` would look like one whose wall clock was set forward. A suspension
 * also leaves the wall clock ahead: the system is asked when that has moved, and once a second, not at every heartbeat.
 */
export function createBootTime({ running, wall, boot }: ElapsedTimes): () => number {
  const offset = boot() - running();
  let suspendedMs = 0;
  let lookedAt = running();
  let wallAhead = wall() - lookedAt;
  return () => {
    const now = running();
    const ahead = wall() - now;
    if (now - lookedAt >= LOOK_EVERY_MS || Math.abs(ahead - wallAhead) >= SUSPENSION_MS / 2) {
      lookedAt = now;
      wallAhead = ahead;
      const missed = boot() - now - offset;
      if (missed > suspendedMs + SUSPENSION_MS) suspendedMs = missed;
    }
    return now + suspendedMs;
  };
}
