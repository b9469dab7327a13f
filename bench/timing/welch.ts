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
  const limit = cropAt(times);
  const moments = Array.from({ length: classCount }, (_, wanted) => momentsOf({ classes, times }, wanted, limit));
  return moments.map((one) => welch(one, moments[0] as Moments));
}

/**
 * t of each class against class 0, of the differences within blocks of so many samples. What a block has to itself, such as where its
 * verifier lies or another process beside it, is on both sides of its difference; and samples of one block, which resemble each other,
 * are not taken for so many witnesses.
 */
export function compareWithin({ classes, times }: Samples, classCount: number, blockSize: number): readonly number[] {
  const limit = cropAt(times);
  const differences: number[][] = Array.from({ length: classCount }, () => []);
  for (let from = 0; from + blockSize <= times.length; from += blockSize) {
    const block = { classes: classes.subarray(from, from + blockSize), times: times.subarray(from, from + blockSize) };
    const all = differences.map((_, wanted) => momentsOf(block, wanted, limit));
    // A block in which everything was cropped says nothing.
    if (all.some(({ count }) => count === 0)) continue;
    for (const [index, { mean }] of all.entries()) differences[index]?.push(mean - (all[0] as Moments).mean);
  }
  return differences.map((of) => {
    const { count, mean, variance } = momentsOf(
      { classes: new Uint8Array(of.length), times: Float64Array.from(of) },
      0,
      Number.POSITIVE_INFINITY,
    );
    return variance === 0 ? 0 : mean / Math.sqrt(variance / count);
  });
}

/** Means in microseconds, cropped alike: for a person who looks at what t says. */
export function means({ classes, times }: Samples, classCount: number): readonly number[] {
  const limit = cropAt(times);
  return Array.from({ length: classCount }, (_, wanted) => momentsOf({ classes, times }, wanted, limit).mean / 1_000);
}

function cropAt(times: Float64Array): number {
  const sorted = Float64Array.from(times).sort();
  return sorted[Math.floor(sorted.length * (1 - CROPPED_SHARE))] ?? Number.POSITIVE_INFINITY;
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
