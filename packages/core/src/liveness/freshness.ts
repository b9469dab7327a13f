/** Fresh and stale are read off the hub's monotonic clock, never off a wall clock or a host's word (design 6, 7). */

import { limits } from '../limits.ts';

/** How long after a beat a host stays fresh: three of the intervals that it was handed, at least 30 s. */
export function staleAfterMs(intervalMs: number): number {
  return Math.max(limits.freshIntervals * intervalMs, limits.freshMinMs);
}

/** Whether a beat of this process's life was received lately enough. `null`: none was. */
export function isFresh(receivedMonotonicMs: number | null, intervalMs: number, nowMonotonicMs: number): boolean {
  return receivedMonotonicMs !== null && nowMonotonicMs - receivedMonotonicMs <= staleAfterMs(intervalMs);
}

/**
 * Whether a host is known to be silent. Not the opposite of fresh: until a hub has listened for a full
 * window since its start it knows of nobody's silence, so a restart makes no host stale.
 */
export function isStale(
  receivedMonotonicMs: number | null,
  intervalMs: number,
  startedMonotonicMs: number,
  nowMonotonicMs: number,
): boolean {
  const listenedSinceMs = receivedMonotonicMs ?? startedMonotonicMs;
  return !isFresh(Math.max(listenedSinceMs, startedMonotonicMs), intervalMs, nowMonotonicMs);
}
