/** The machine's clocks as the `Clock` port. */
import { uptime } from 'node:os';
import type { Clock } from '@rollcall/core/ports';

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: createBootTime(),
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

/** What the coarse clock (10 ms on Linux) must be ahead before it counts as a suspension. */
const SUSPENSION_MS = 1_000;

/**
 * Elapsed time that counts suspension: the process's clock stands still then, the system's uptime does not. Without it a
 * machine that slept for longer than `limits.clockJumpMs` would look like one whose wall clock was set forward.
 */
function createBootTime(): () => number {
  const offset = uptime() * 1_000 - performance.now();
  let suspendedMs = 0;
  return () => {
    const ahead = uptime() * 1_000 - performance.now() - offset;
    if (ahead > suspendedMs + SUSPENSION_MS) suspendedMs = ahead;
    return performance.now() + suspendedMs;
  };
}
