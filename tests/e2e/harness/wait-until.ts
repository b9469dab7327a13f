/** Waiting for what must come, with a deadline, and a story when it does not. */

export interface WaitOptions {
  readonly withinMs?: number;
  readonly everyMs?: number;
  /** What else a person needs to know when it did not come. */
  readonly story?: () => string;
}

/** Resolves with the first value of `probe` that is neither `undefined` nor `false`. An error of the probe is a "not yet". */
export async function waitUntil<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { withinMs = 40_000, everyMs = 50, story = () => '' }: WaitOptions = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${withinMs} ms in vain until ${what}; last: ${String(last)}\n${story()}`);
    }
    await sleep(everyMs);
  }
}

/** For what must *not* happen: fails as soon as it does. */
export async function during(spanMs: number, check: () => void | Promise<void>, everyMs = 50): Promise<void> {
  const end = performance.now() + spanMs;
  do {
    await check();
    await sleep(everyMs);
  } while (performance.now() < end);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
