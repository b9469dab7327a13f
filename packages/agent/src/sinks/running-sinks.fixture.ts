/** For tests: sinks that run on real files in a directory of their own, under a clock that stands still. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogFields } from '@rollcall/core/ports';
import type { Assignment } from '@rollcall/core/seal';
import { FakeClock } from '@rollcall/core/testing';
import type { SinkConfig } from '@rollcall/wire';
import { expect } from 'vitest';
import { systemSinkFiles } from '../adapters/sink-files.ts';
import { systemAccounts } from '../adapters/system-accounts.ts';
import { seededRandom } from '../fleet.fixture.ts';
import type { SinkFact } from './attempt-sink.ts';
import type { Processes, RunOutcome, SinkFiles } from './ports.ts';
import { createSinks, type HeldAssignments, type Sinks } from './run-sinks.ts';

export interface Place {
  /** Where sinks lie. */
  readonly directory: string;
  readonly state: string;
  /** `web` in it. */
  readonly path: string;
  readonly clear: () => void;
}

export function makePlace(): Place {
  const root = mkdtempSync(join(tmpdir(), 'rollcall-sinks-'));
  const [directory, state] = [join(root, 'etc'), join(root, 'state')];
  mkdirSync(directory, { mode: 0o755 });
  mkdirSync(state, { mode: 0o700 });
  return { directory, state, path: join(directory, 'web'), clear: () => rmSync(root, { recursive: true }) };
}

export interface Running {
  readonly sinks: Sinks;
  readonly clock: FakeClock;
  readonly log: readonly { readonly message: string; readonly fields: LogFields | undefined }[];
  /** Resolves when the sink of this name stands so. */
  readonly until: (name: string, fact: Partial<SinkFact>) => Promise<void>;
  /** Lets the minute pass after which a sink is looked at again. */
  readonly nextMinute: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const starts = { count: 0 };

export function runSinks(
  place: Place,
  configured: readonly SinkConfig[],
  held: readonly Assignment[],
  ports: { readonly files?: SinkFiles; readonly processes?: Processes } = {},
): Running {
  const clock = new FakeClock();
  const log: { message: string; fields: LogFields | undefined }[] = [];
  const note = (message: string, fields?: LogFields) => void log.push({ message, fields });
  starts.count += 1;
  const sinks = createSinks(
    {
      clock,
      random: seededRandom(`sinks ${starts.count}`),
      log: { debug: note, info: note, warn: note, error: note },
      files: ports.files ?? systemSinkFiles,
      accounts: systemAccounts,
      processes: ports.processes ?? new FakeProcesses(),
      directory: place.state,
    },
    configured,
    holding(...held),
  );
  const stopping = new AbortController();
  const stopped = sinks.run(stopping.signal);
  return {
    sinks,
    clock,
    log,
    until: (name, fact) =>
      expect
        .poll(() => sinks.facts().find((one) => one.name === name), { timeout: 10_000, interval: 10 })
        .toMatchObject(fact),
    nextMinute: async () => {
      // Until it sleeps there is nothing to wake.
      await expect.poll(() => clock.pending, { timeout: 10_000, interval: 5 }).toBeGreaterThan(0);
      await clock.advance(60_000);
      await expect.poll(() => clock.pending, { timeout: 10_000, interval: 5 }).toBeGreaterThan(0);
    },
    stop: async () => {
      stopping.abort();
      await stopped;
    },
  };
}

export function holding(...held: readonly Assignment[]): HeldAssignments {
  return new Map(held.map((assignment) => [assignment.secret, assignment]));
}

/** A program runs when the test lets it. */
export class FakeProcesses implements Processes {
  readonly self = { pid: process.pid, uid: process.getuid?.() ?? 0 };
  readonly ran: string[] = [];
  outcome: (count: number) => RunOutcome | Promise<RunOutcome> = () => ({ kind: 'exited', status: 0 });

  async look(): Promise<undefined> {
    return undefined;
  }

  signal(): void {
    throw new Error('nobody is signalled here');
  }

  async run(command: readonly string[]): Promise<RunOutcome> {
    this.ran.push(command.join(' '));
    return this.outcome(this.ran.length);
  }
}

/** The files at the path; `undefined` where there is none. */
export function contentAt(path: string): Readonly<Record<string, string>> | undefined {
  if (!existsSync(path)) return undefined;
  return Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')]));
}
