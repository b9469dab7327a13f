/** Callers that send a shared token without a pause, each what it is told at that moment; and what came of every request. */
import { sleep } from './wait-until.ts';

export interface Call {
  readonly from: string;
  readonly to: string;
  /** Of this machine's wall clock. */
  readonly startedAtMs: number;
  readonly tookMs: number;
  /** `undefined`: nobody answered. */
  readonly status: number | undefined;
}

export interface Target {
  readonly name: string;
  /** Rejects where nobody answered. */
  readonly ask: (token: string) => Promise<number>;
}

export interface Callers {
  readonly calls: () => readonly Call[];
  readonly stop: () => Promise<readonly Call[]>;
}

/** `tokens`: by caller, what it is told. One that cannot be read is not sent. */
export function startCallers(
  tokens: Readonly<Record<string, () => string>>,
  targets: readonly Target[],
  everyMs = 40,
): Callers {
  const calls: Call[] = [];
  let isStopping = false;
  const loops = targets.map(async (target) => {
    while (!isStopping) {
      for (const [from, told] of Object.entries(tokens)) {
        const token = tryRead(told);
        if (token !== undefined) calls.push(await call(from, target, token));
      }
      await sleep(everyMs);
    }
  });
  return {
    calls: () => calls,
    stop: async () => {
      isStopping = true;
      await Promise.all(loops);
      return calls;
    },
  };
}

/** Whoever took longer than this over one request may have been told otherwise meanwhile. */
const AT_ONCE_MS = 1_000;

/** Those that were refused though they did at once as they were told. 503 is no refusal: a hub that ends says it to the last ones. */
export function refusedOf(calls: readonly Call[]): readonly Call[] {
  const noRefusal = [undefined, 200, 503];
  return calls.filter(({ status, tookMs }) => !noRefusal.includes(status) && tookMs < AT_ONCE_MS);
}

export function takenBy(calls: readonly Call[], to: string): number {
  return calls.filter((one) => one.to === to && one.status === 200).length;
}

async function call(from: string, { name, ask }: Target, token: string): Promise<Call> {
  const startedAtMs = Date.now();
  const began = performance.now();
  const status = await ask(token).catch(() => undefined);
  return { from, to: name, startedAtMs, tookMs: performance.now() - began, status };
}

function tryRead(told: () => string): string | undefined {
  try {
    return told();
  } catch {
    return undefined;
  }
}
