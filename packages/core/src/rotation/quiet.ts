/** Counting the hits of a version that is on its way out, across restarts of whoever counts (design 5, Counters). */

/** What the hub keeps of one verifier's counter for one version. */
export interface CountRecord {
  /** Of the counter; a verifier that stopped without saying its count begins another one. */
  readonly counter: string;
  readonly count: number;
  /** Since when the count is what it is, on the hub's clock. */
  readonly flatSinceMs: number;
}

/**
 * The record after a report. Flat only where the same counter has the same count: a new counter may have lost hits, and a count
 * that fell is a counter that was put back; both begin the window anew (I10: what is not known is not zero).
 */
export function noteCount(
  before: CountRecord | null,
  report: { readonly counter: string; readonly count: number },
  nowMs: number,
): CountRecord {
  const isSame = before !== null && before.counter === report.counter && before.count === report.count;
  // A time ahead of the clock is none that could be waited for.
  if (isSame && before.flatSinceMs <= nowMs) return before;
  return { counter: report.counter, count: report.count, flatSinceMs: nowMs };
}

/**
 * Whether the count was flat for a whole window up to its last report: what came after that is not known. An unreadable window
 * or time is not quiet (I7).
 */
export function wasQuiet(flatSinceMs: number, reportedAtMs: number, windowMs: number): boolean {
  if (!Number.isFinite(flatSinceMs) || !Number.isFinite(windowMs)) return false;
  return reportedAtMs - flatSinceMs >= Math.max(windowMs, 0);
}
