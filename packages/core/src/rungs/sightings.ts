/** Who was let in by a rung that may be closed, by name and address, without a gap (design 5, "those hits are sampled"). */
import type { HitSource } from '../rotation/holder.ts';
import { keepFairly } from '../rotation/keep-fairly.ts';

export interface Sightings {
  /** Since when nothing was missed, on the hub's clock: whoever counts and stops uncleanly begins anew. */
  readonly countedSinceMs: number;
  readonly count: number;
  /** Each once, the newest first; a bounded number of them. */
  readonly sources: readonly HitSource[];
  /** When the newest of those was seen that were forgotten for others; `null`: none was. */
  readonly forgottenAtMs: number | null;
}

/** When anybody stood on it last who is not left; where nobody did, since when that is known. */
export function lastStoodOn(sightings: Sightings, left: readonly string[]): number {
  const { countedSinceMs, sources, forgottenAtMs } = sightings;
  const counted = sources.filter(({ host }) => host === null || !left.includes(host)).map(({ atMs }) => atMs);
  return Math.max(countedSinceMs, forgottenAtMs ?? countedSinceMs, ...counted);
}

/**
 * After `gapMs` in which nobody could be counted: it is no part of a window, which goes on where it was. What was said of a time to
 * come is said of now: none that could be waited for (I7).
 */
export function noteGap(before: Sightings, gapMs: number, nowMs: number): Sightings {
  const lastMs = lastStoodOn(before, []);
  if (gapMs <= 0 && lastMs <= nowMs) return before;
  const { sources, forgottenAtMs } = before;
  return {
    ...before,
    // Of everybody's last, whoever is left: a window that is too long by that is none that is too short.
    countedSinceMs: Math.min(lastMs + Math.max(0, gapMs), nowMs),
    sources: sources.map((source) => (source.atMs <= nowMs ? source : { ...source, atMs: nowMs })),
    forgottenAtMs: forgottenAtMs === null ? null : Math.min(forgottenAtMs, nowMs),
  };
}

/**
 * After one more. Somebody who comes again is one source; the one that was silent for longest is forgotten first, of the network that
 * has most of them.
 */
export function noteSighting(
  before: Sightings,
  source: HitSource,
  most: number,
  networkOf: (address: string) => string = (address) => address,
): Sightings {
  const others = before.sources.filter((known) => keyOf(known) !== keyOf(source));
  const all = [source, ...others];
  const kept = keepFairly(all, most, ({ address }) => networkOf(address));
  const gone = all.filter((one) => !kept.includes(one)).map(({ atMs }) => atMs);
  const forgottenAtMs = gone.length === 0 ? before.forgottenAtMs : Math.max(before.forgottenAtMs ?? 0, ...gone);
  return { ...before, count: before.count + 1, sources: kept, forgottenAtMs };
}

function keyOf({ address, userAgent, route, host }: HitSource): string {
  return [host ?? '', address, userAgent, route].join('\n');
}
