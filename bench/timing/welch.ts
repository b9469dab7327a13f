/** Do two sets of times differ in their mean? Welch's t, as dudect has it (Reparaz, Balasch, Verbauwhede 2017): |t| above 4.5 says yes. */

export const T_BOUND = 4.5;

/** The longest share of all samples is left out, by one bound for every class: there the garbage collector and the other processes are. */
export const CROPPED_SHARE = 0.05;

export interface Samples {
  /** Which class each sample is of. */
  readonly classes: Uint8Array;
  /** Nanoseconds. */
  readonly times: Float64Array;
}

interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly variance: number;
}

/** t of each class against class 0. */
export function compare({ classes, times }: Samples, classCount: number): readonly number[] {
  const sorted = Float64Array.from(times).sort();
  const limit = sorted[Math.floor(sorted.length * (1 - CROPPED_SHARE))] ?? Number.POSITIVE_INFINITY;
  const moments = Array.from({ length: classCount }, (_, wanted) => momentsOf({ classes, times }, wanted, limit));
  return moments.map((one) => welch(one, moments[0] as Moments));
}

/** Means in microseconds, cropped alike: for a person who looks at what t says. */
export function means({ classes, times }: Samples, classCount: number): readonly number[] {
  const sorted = Float64Array.from(times).sort();
  const limit = sorted[Math.floor(sorted.length * (1 - CROPPED_SHARE))] ?? Number.POSITIVE_INFINITY;
  return Array.from({ length: classCount }, (_, wanted) => momentsOf({ classes, times }, wanted, limit).mean / 1_000);
}

function momentsOf({ classes, times }: Samples, wanted: number, limit: number): Moments {
  let count = 0;
  let mean = 0;
  let squares = 0;
  for (let at = 0; at < times.length; at += 1) {
    const time = times[at] as number;
    if (classes[at] !== wanted || time > limit) continue;
    count += 1;
    const delta = time - mean;
    mean += delta / count;
    squares += delta * (time - mean);
  }
  return { count, mean, variance: squares / (count - 1) };
}

function welch(a: Moments, b: Moments): number {
  return (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count);
}
