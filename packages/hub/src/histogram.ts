/** How often a value was how large, in plain numbers: it is counted on the path of a request (design 2, traps). */
export interface Histogram {
  observe(value: number): void;
  read(): HistogramReading;
}

export interface HistogramReading {
  /** How many values were at most `le`; the last one is of all that were finite. */
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
  readonly sum: number;
  readonly count: number;
}

/** Seconds, from a heartbeat in memory to a store that hardly answers. */
export const durationBounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** `bounds` rise. What is no number is not counted. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    observe: (value) => {
      if (!Number.isFinite(value)) return;
      let at = 0;
      while (at < bounds.length && value > (bounds[at] as number)) at += 1;
      counts[at] = (counts[at] as number) + 1;
      sum += value;
    },
    read: () => {
      let count = 0;
      const buckets = [...bounds, Number.POSITIVE_INFINITY].map((le, at) => {
        count += counts[at] as number;
        return { le, count };
      });
      return { buckets, sum, count };
    },
  };
}
