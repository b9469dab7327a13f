/** How fast agents beat, by their own count, between two moments. */
import type { Clock } from '@rollcall/core/ports';
import type { Fleet } from './fleet.ts';

export interface Pace {
  readonly atMs: number;
  /** Beats that came back `ok`, by host. */
  readonly beats: ReadonlyMap<string, number>;
}

export async function readPace(at: {
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly hosts: readonly string[];
}): Promise<Pace> {
  const { fleet, clock, hosts } = at;
  const statuses = await Promise.all(hosts.map((host) => fleet.status(host)));
  const beats = statuses.map(({ host, heartbeats }) => [host, heartbeats['ok'] ?? 0] as const);
  return { atMs: clock.monotonic(), beats: new Map(beats) };
}

/** Beats a second of the slowest of them. */
export function slowest(from: Pace, to: Pace): number {
  const seconds = (to.atMs - from.atMs) / 1_000;
  return Math.min(...[...to.beats].map(([host, beats]) => (beats - (from.beats.get(host) ?? 0)) / seconds));
}
