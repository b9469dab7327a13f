/**
 * Plain numbers, counted on the path of a request and read when metrics are scraped: a counter of a metrics library
 * for each request costs a tenth of the heartbeats (design 2, traps).
 */
import { createHistogram, durationBounds, type Histogram } from './histogram.ts';

export interface Counts {
  /** Adds one. Labels are closed words of the program; never a host, a fingerprint or a token (design 8). */
  add(name: CountName, label: string): void;
  read(name: CountName): ReadonlyMap<string, number>;
  /** What the hub worked for each heartbeat that it answered. */
  readonly heartbeatSeconds: Histogram;
  /** How far a host's clock was from the hub's, without sign: a sum that falls is no sum to Prometheus. */
  readonly skewSeconds: Histogram;
}

const countNames = [
  'heartbeats',
  'auth',
  'host_token_auth',
  'member_auth',
  'delivery_refusals',
  'publications',
  'master_hits',
  'instances',
] as const;
export type CountName = (typeof countNames)[number];

export function createCounts(): Counts {
  // A count is an object of its own, so that to add one is one look-up, and writes into no table.
  const counts = new Map<CountName, Map<string, { count: number }>>(countNames.map((name) => [name, new Map()]));
  const of = (name: CountName) => counts.get(name) as Map<string, { count: number }>;
  return {
    add: (name, label) => {
      const labels = of(name);
      const counted = labels.get(label);
      if (counted === undefined) labels.set(label, { count: 1 });
      else counted.count += 1;
    },
    read: (name) => new Map([...of(name)].map(([label, { count }]) => [label, count])),
    heartbeatSeconds: createHistogram(durationBounds),
    skewSeconds: createHistogram(skewBounds),
  };
}

/** From what a network does to a clock that is days off. */
const skewBounds: readonly number[] = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600, 86_400];
