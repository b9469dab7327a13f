/** When to try again: the hub's pacing of heartbeats and an agent's back-off, both with jitter (design 7). */

import { limits } from '../limits.ts';
import type { Random } from '../ports.ts';

/** The interval to hand out: the configured one, a tenth more or less, within the bounds. */
export function nextBeatMs(intervalMs: number, random: Random): number {
  const spreadMs = intervalMs * limits.beatJitterShare;
  const jittered = Math.round(intervalMs - spreadMs + 2 * spreadMs * fraction(random));
  return Math.min(limits.beatMaxMs, Math.max(limits.beatMinMs, jittered));
}

/** When an agent that has just started beats first: anywhere within an interval, so that a fleet does not start as one. */
export function firstBeatMs(intervalMs: number, random: Random): number {
  return Math.floor(Math.min(limits.beatMaxMs, intervalMs) * fraction(random));
}

/**
 * How long to wait after the `attempt`-th failure in a row, counted from 0, whatever kind of failure it was: doubling
 * up to a cap, drawn from the upper half, and never less than a second.
 */
export function backoffMs(attempt: number, random: Random): number {
  const doublings = attempt > 0 ? Math.min(attempt, MAX_DOUBLINGS) : 0;
  const ceilingMs = Math.min(limits.backoffMaxMs, limits.backoffFirstMs * 2 ** (doublings + 1));
  const floorMs = Math.max(limits.backoffFirstMs, ceilingMs / 2);
  return Math.round(floorMs + (ceilingMs - floorMs) * fraction(random));
}

const MAX_DOUBLINGS = 30;

/** Uniform in [0, 1). */
function fraction(random: Random): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4);
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}
