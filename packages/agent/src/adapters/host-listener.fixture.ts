/** For tests: a host with a listener on loopback, whose time, state and log are in the hands of the test. */
import type { Clock, Log } from '@rollcall/core/ports';
import type { Assignment } from '@rollcall/core/seal';
import { parseListenAddress } from '@rollcall/wire';
import type { AgentState } from '../agent-state.ts';
import { durableState, seededRandom } from '../fleet.fixture.ts';
import { holding } from '../listener/listener.fixture.ts';
import { certified } from '../listener.fixture.ts';
import { decideStart } from '../start.ts';
import { makeAuthority } from '../tls-hub.fixture.ts';
import { createHostListener, type HostListener, type HostListenerOptions } from './host-listener.ts';
import { createSystemClock } from './system-clock.ts';

export const authority = makeAuthority();
export const certificate = certified(authority, Date.now());

export interface TestHost {
  readonly listener: HostListener;
  /** Codes of what was warned of, in order. */
  readonly codes: string[];
  /** Elapsed time runs ahead by so much from now on. */
  skip(ms: number): void;
  /** The machine was suspended for so long. */
  suspend(ms: number): void;
  /** Applies steps beside what is held, as the loop does: in the state first, then told. */
  apply(...steps: readonly Assignment[]): Promise<void>;
  change(changes: Partial<AgentState>): Promise<void>;
  confirm(generations?: readonly number[], windowMs?: number): Promise<void>;
  /** Of the open listener. */
  port(): number;
  state(): AgentState;
}

export function createTestHost(
  tokens: readonly Assignment[] = [],
  options: Partial<HostListenerOptions> & { readonly address?: string; readonly generations?: readonly number[] } = {},
): TestHost {
  const { address = '127.0.0.1:0', generations, ...rest } = options;
  const system = createSystemClock();
  let aheadMs = 0;
  let suspendedMs = 0;
  const clock: Clock = { ...system, monotonic: () => system.monotonic() + aheadMs };
  const codes: string[] = [];
  const note = (_: string, fields?: { readonly code?: unknown }) => {
    if (typeof fields?.code === 'string') codes.push(fields.code);
  };
  const log: Log = { debug: () => undefined, info: () => undefined, warn: note, error: note };
  const random = seededRandom('host listener');
  const durable = durableState({ assignments: holding(tokens, generations), listener: { current: certificate } });
  let state = decideStart(durable, {}, random);
  const listener = createHostListener({ clock, random, log, suspendedMs: () => suspendedMs }, state, {
    version: '0.0.0-test',
    listen: parseListenAddress(address),
    ...rest,
  });
  const change = async (changes: Partial<AgentState>) => {
    state = { ...state, ...changes };
    listener.update(state);
    // Whatever follows from it, opening and closing too, is done one after the other.
    await listener.settled();
  };
  return {
    listener,
    codes,
    skip: (ms) => {
      aheadMs += ms;
    },
    suspend: (ms) => {
      suspendedMs += ms;
      aheadMs += ms;
    },
    apply: (...steps) => {
      const assignments = new Map(state.durable.assignments);
      for (const step of steps) assignments.set(step.secret, step);
      return change({ durable: { ...state.durable, assignments } });
    },
    change,
    confirm: (confirmed = [1], windowMs) =>
      change({
        confirmation: {
          generations: confirmed,
          hubTimeMs: Date.now(),
          monotonicMs: clock.monotonic(),
          ...(windowMs === undefined ? {} : { windowMs }),
        },
      }),
    port: () => Number(listener.status().address?.split(':').at(-1)),
    state: () => state,
  };
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 10) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it did not come to be so');
}
