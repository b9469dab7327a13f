/** For tests: a machine under virtual time. Its agent can be cut off at any file operation, and started again on what is left. */
import { utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import type { Clock, Log, Transport } from '@rollcall/core/ports';
import type { AgentState } from './agent-state.ts';
import type { FakeHub } from './fake-hub.fixture.ts';
import { seededRandom } from './fleet.fixture.ts';
import { runLoop } from './loop.ts';
import { decideStart, type Given } from './start.ts';
import { loadState } from './state/load.ts';
import { createPersist } from './state/persist.ts';
import { DIRECTORY, PowerLossFiles, UID } from './state/power-loss-files.fixture.ts';

export interface Run {
  readonly files: PowerLossFiles;
  readonly state: AgentState | undefined;
  /** When each request was made, in virtual milliseconds. */
  readonly askedAtMs: readonly number[];
  readonly lines: readonly string[];
  /** Why it ended before its time, if it did. */
  readonly error?: unknown;
}

export async function runMachine(options: {
  readonly disk: ReadonlyMap<string, Uint8Array>;
  readonly hub: FakeHub;
  readonly given: Given;
  readonly untilMs: number;
  readonly seed: string;
  readonly prepare?: (files: PowerLossFiles) => void;
  /** Stands between agent and hub. */
  readonly network?: (index: number, ask: () => ReturnType<FakeHub['handle']>) => ReturnType<FakeHub['handle']>;
}): Promise<Run> {
  const { disk, hub, given, untilMs, seed } = options;
  const files = new PowerLossFiles(disk);
  options.prepare?.(files);
  const random = seededRandom(seed);
  const stopping = new AbortController();
  const lines: string[] = [];
  const askedAtMs: number[] = [];
  let nowMs = 0;
  let state: AgentState | undefined;
  const clock: Clock = {
    now: () => Date.parse('2026-03-01T12:00:00Z') + nowMs,
    monotonic: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
      if (nowMs >= untilMs) stopping.abort();
    },
    after: () => () => undefined,
  };
  const transport: Transport = {
    request: async ({ path, headers, body = utf8('') }) => {
      askedAtMs.push(nowMs);
      nowMs += 5;
      const ask = () => hub.handle({ path, authorization: headers['authorization'], body });
      return options.network === undefined ? ask() : options.network(askedAtMs.length - 1, ask);
    },
  };
  const line = (message: string, fields: unknown) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: line, info: line, warn: line, error: line };
  try {
    const loaded = await loadState({ files, directory: DIRECTORY, uid: UID });
    const persist = createPersist(files, DIRECTORY, loaded?.inForce);
    await runLoop({ clock, random, transport, log, persist }, decideStart(loaded?.state, given, random), {
      signal: stopping.signal,
      onState: (next) => {
        state = next;
      },
    });
    return { files, state, askedAtMs, lines };
  } catch (error) {
    return { files, state, askedAtMs, lines, error };
  }
}

export const unreachable = (): never => {
  throw new RollcallError('hub_unreachable', { cause: 'ECONNRESET' });
};
