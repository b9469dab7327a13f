/** Counting the hits of a version that is on its way out, across restarts of whoever counts (design 5, Counters). */

/** What the hub keeps of one verifier's counter for one version. */
export interface CountRecord {
  /** Of the counter; a verifier that stopped without saying its count begins another one. */
  readonly counter: string;
  readonly count: number;
  /** Since when the count is what it is, on the hub's clock, moved on by each gap in its reports. */
  readonly flatSinceMs: number;
  /** When it was reported last, on the hub's clock. */
  readonly reportedAtMs: number;
  /** How often the version came since the first report of this rotation. */
  readonly hits: number;
}

/**
 * The record after a report. Flat only where the same counter has the same count: a new counter may have lost hits, and a count
 * that fell is a counter that was put back; both begin the window anew (I10: what is not known is not zero). For as long as
 * nothing was reported nobody may have been counted: such a gap is no part of a window, which goes on where it was.
 */
export function noteCount(
  before: CountRecord | null,
  report: { readonly counter: string; readonly count: number },
  nowMs: number,
  reportedWithinMs: number,
): CountRecord {
  const { counter, count } = report;
  const isSameCounter = before !== null && before.counter === counter;
  const anew = { counter, count, flatSinceMs: nowMs, reportedAtMs: nowMs };
  // The first count may be of before the rotation; another counter began after that.
  if (before === null) return { ...anew, hits: 0 };
  const rose = isSameCounter ? Math.max(0, count - before.count) : count;
  const hits = Math.min(before.hits + rose, Number.MAX_SAFE_INTEGER);
  const gapMs = nowMs - before.reportedAtMs;
  const flatSinceMs = before.flatSinceMs + (gapMs > reportedWithinMs ? gapMs : 0);
  // A time ahead of the clock, or one that cannot be read, is none that could be waited for (I7).
  const isKnown = flatSinceMs <= nowMs && gapMs >= 0;
  if (!isSameCounter || count !== before.count || !isKnown) return { ...anew, hits };
  return { ...anew, flatSinceMs, hits };
}

/**
 * Whether the count was flat for a whole window up to its last report: what came after that is not known. An unreadable window
 * or time is not quiet (I7).
 */
export function wasQuiet(flatSinceMs: number, reportedAtMs: number, windowMs: number): boolean {
  if (!Number.isFinite(flatSinceMs) || !Number.isFinite(windowMs)) return false;
  return reportedAtMs - flatSinceMs >= Math.max(windowMs, 0);
}
