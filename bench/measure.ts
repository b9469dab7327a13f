/**
 * Ratios that mean something on a busy machine: every contender runs in every round, so that what slows one slows all,
 * and the median round is reported.
 */

/** One figure, and the bound that it is held to. */
export interface BenchResult {
  readonly id: string;
  readonly value: number;
  readonly unit: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** `true` where there is no bound. */
  readonly holds: boolean;
}

/** One operation; a promise is awaited before the next. */
export type Contender = () => unknown;

export interface Measurement<Name extends string> {
  /** Operations per second. */
  rate(name: Name): number;
  /** Median over the rounds of `rate(name) / rate(baseline)`. */
  ratio(name: Name, baseline: NoInfer<Name>): number;
}

const ROUNDS = 60;
const ROUND_MS = 20;

/** Runs every contender in turn, `ROUNDS` times; the first round warms up and is dropped. */
export async function measureInterleaved<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Measurement<Name>> {
  const names = Object.keys(contenders) as Name[];
  const rounds: Record<Name, number>[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const rates = {} as Record<Name, number>;
    for (const name of names) rates[name] = await measureRound(contenders[name]);
    if (round > 0) rounds.push(rates);
  }
  return {
    rate: (name) => median(rounds.map((rates) => rates[name])),
    ratio: (name, baseline) => median(rounds.map((rates) => rates[name] / rates[baseline])),
  };
}

export function atLeast(id: string, value: number, unit: string, bound: number): BenchResult {
  return { id, value, unit, atLeast: bound, holds: value >= bound };
}

export function atMost(id: string, value: number, unit: string, bound: number): BenchResult {
  return { id, value, unit, atMost: bound, holds: value <= bound };
}

/** A figure to look at, held to nothing: it depends on the machine. */
export function figure(id: string, value: number, unit: string): BenchResult {
  return { id, value, unit, holds: true };
}

/** Operations per second over at least `ROUND_MS`. */
async function measureRound(operation: Contender): Promise<number> {
  let operations = 0;
  const start = performance.now();
  let elapsedMs = 0;
  while (elapsedMs < ROUND_MS) {
    for (let count = 0; count < 16; count += 1) {
      const pending = operation();
      if (pending instanceof Promise) await pending;
    }
    operations += 16;
    elapsedMs = performance.now() - start;
  }
  return (operations / elapsedMs) * 1_000;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

export function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}
