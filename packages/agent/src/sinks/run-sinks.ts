/**
 * Keeps the sinks as the durable state says, beside the loop and never in its way: at start, whenever an assignment or the
 * configuration changes, and once a minute to see what somebody else changed. What to do is decided in `plan-sink.ts`.
 */
import { type ErrorCode, errorTable, isRollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { backoffMs } from '@rollcall/core/liveness';
import type { Clock, Log, Random } from '@rollcall/core/ports';
import type { Assignment } from '@rollcall/core/seal';
import type { SinkConfig } from '@rollcall/wire';
import { attemptSink, idOf, type SinkFact, sweepSink } from './attempt-sink.ts';
import type { SinkRecord } from './plan-sink.ts';
import type { Accounts, Processes, SinkFiles } from './ports.ts';
import { reloadProgram } from './reload-program.ts';
import { loadRecords, saveRecords } from './sink-record.ts';

export interface SinkPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: SinkFiles;
  readonly accounts: Accounts;
  readonly processes: Processes;
  /** The state directory: what was written is remembered there. */
  readonly directory: string;
}

export type HeldAssignments = ReadonlyMap<string, Assignment>;

export interface Sinks {
  /** What this host holds, durable already. */
  readonly hold: (held: HeldAssignments) => void;
  readonly configure: (sinks: readonly SinkConfig[]) => void;
  /** How they stand, in the order of the configuration: all of them, since one that is left out would be none that is waited for. */
  readonly facts: () => readonly SinkFact[];
  /** Resolves once `signal` is aborted: after a write that is under way. A reload that is under way is ended, and due again. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** What is remembered of a sink while the agent runs. */
interface Memory {
  readonly config: SinkConfig;
  fact?: SinkFact;
  isSwept: boolean;
  failures: number;
  retryAtMs: number;
  readonly reload: ReloadMemory;
}

interface Failure {
  readonly problem: ErrorCode;
  readonly cause: string;
}

interface ReloadMemory {
  /** The directory that the program is being told of. */
  runningFor?: string;
  outcome?: { readonly directory: string; readonly failure: Failure | undefined };
  problem?: Failure;
  failures: number;
  retryAtMs: number;
}

export function createSinks(ports: SinkPorts, configured: readonly SinkConfig[], initial: HeldAssignments): Sinks {
  const { clock, log, files } = ports;
  let held = initial;
  let memories: readonly Memory[] = configured.map(freshMemory);
  let records: ReadonlyMap<string, SinkRecord> | undefined;
  let wake: () => void = () => undefined;
  let isDue = true;
  const running = new Set<Promise<void>>();
  const ids = new Map<string, number>();

  const due = () => {
    isDue = true;
    wake();
  };

  const remember = async (record: SinkRecord): Promise<void> => {
    const names = new Set(memories.map(({ config }) => config.name));
    const kept = [...(records ?? [])].filter(([name]) => names.has(name));
    const next = new Map(kept).set(record.name, record);
    await saveRecords(files, ports.directory, next);
    records = next;
  };

  const cached = (kind: string, find: (name: string) => Promise<number | undefined>) => async (name: string) => {
    const id = ids.get(`${kind} ${name}`) ?? (await find(name));
    if (id !== undefined) ids.set(`${kind} ${name}`, id);
    return id;
  };
  const accounts: Accounts = {
    userId: cached('user', ports.accounts.userId),
    groupId: cached('group', ports.accounts.groupId),
  };
  const attemptPorts = { files, accounts, random: ports.random, uid: ports.processes.self.uid, remember };

  async function pass(signal: AbortSignal): Promise<void> {
    try {
      records ??= await loadRecords(files, ports.directory);
    } catch (error) {
      for (const memory of memories) note(memory, unloaded(memory.config, error));
      return;
    }
    for (const memory of memories) {
      if (signal.aborted) return;
      await takeOutcome(memory);
      await attempt(memory);
      tell(memory, signal);
    }
  }

  async function attempt(memory: Memory): Promise<void> {
    const { config } = memory;
    const mayWrite = clock.monotonic() >= memory.retryAtMs;
    const at = { held: held.get(config.secret), record: records?.get(config.name), mayWrite };
    const attempted = await attemptSink(attemptPorts, config, at);
    if (attempted === 'later') return;
    const { fact, hasWritten } = attempted;
    const hasFailed = fact.problem !== undefined && !LEFT.has(fact.problem);
    memory.failures = hasFailed ? memory.failures + 1 : 0;
    memory.retryAtMs = hasFailed ? clock.monotonic() + backoffMs(memory.failures - 1, ports.random) : 0;
    if (hasWritten) {
      log.info('a sink was written', { sink: config.name, of: config.secret, version: fact.version });
      memory.reload.retryAtMs = 0;
    }
    if (!memory.isSwept) await sweepSink(files, config.path, records?.get(config.name)).catch(() => undefined);
    memory.isSwept = true;
    const { problem } = memory.reload;
    note(memory, fact.state === 'unreloaded' && problem !== undefined ? { ...fact, ...problem } : fact);
  }

  /** Begins a reload that is due and not under way. It does not hold up another sink. */
  function tell({ config, fact, reload }: Memory, signal: AbortSignal): void {
    const directory = directoryOf(records?.get(config.name));
    if (fact?.state !== 'unreloaded' || config.reload === undefined) return;
    if (reload.runningFor !== undefined || clock.monotonic() < reload.retryAtMs) return;
    reload.runningFor = directory;
    const told = tellProgram(config.reload, config, signal).then((failure) => {
      delete reload.runningFor;
      running.delete(told);
      reload.outcome = { directory, failure };
      due();
    });
    running.add(told);
  }

  async function tellProgram(
    reload: NonNullable<SinkConfig['reload']>,
    config: SinkConfig,
    signal: AbortSignal,
  ): Promise<Failure | undefined> {
    try {
      const ownerId = config.owner === undefined ? undefined : await idOf(config.owner, accounts.userId);
      await reloadProgram(ports, { ...config, reload }, { ownerId, signal });
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }

  /** What came of a reload counts for the content that it was begun for. */
  async function takeOutcome({ config, reload }: Memory): Promise<void> {
    const { outcome } = reload;
    if (outcome === undefined) return;
    delete reload.outcome;
    const failure = outcome.failure ?? (await rememberTold(config.name, outcome.directory));
    if (failure === 'superseded') return;
    if (failure === undefined) {
      delete reload.problem;
      reload.failures = 0;
      log.info('the program of a sink was told to read it again', { sink: config.name, by: config.reload?.by });
      return;
    }
    reload.problem = failure;
    reload.failures += 1;
    reload.retryAtMs = clock.monotonic() + backoffMs(reload.failures - 1, ports.random);
  }

  /** A program that was told and is not remembered as told is told again: twice does no harm. */
  async function rememberTold(name: string, directory: string): Promise<Failure | 'superseded' | undefined> {
    const record = records?.get(name);
    if (record === undefined || directoryOf(record) !== directory) return 'superseded';
    try {
      await remember({ ...record, isReloadDue: false });
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }

  /** Says what has changed, and nothing when nothing has. */
  function note(memory: Memory, fact: SinkFact): void {
    const before = memory.fact;
    memory.fact = fact;
    if (before?.problem === fact.problem) return;
    const fields = { sink: fact.name, state: fact.state };
    if (fact.problem === undefined) log.info('a sink is in order again', fields);
    else log.warn(errorTable[fact.problem].text, { ...fields, code: fact.problem, cause: fact.cause });
  }

  function nextWakeMs(): number {
    const now = clock.monotonic();
    const retries = memories.flatMap(({ fact, failures, retryAtMs, reload }) => [
      ...(failures > 0 ? [retryAtMs] : []),
      ...(fact?.state === 'unreloaded' && reload.runningFor === undefined ? [reload.retryAtMs] : []),
    ]);
    return Math.max(0, Math.min(limits.sinkCheckMs, ...retries.map((at) => at - now)));
  }

  return {
    hold: (next) => {
      if (next === held) return;
      held = next;
      for (const memory of memories) memory.retryAtMs = 0;
      due();
    },
    configure: (next) => {
      for (const { config } of memories) {
        if (!next.some(({ name, path }) => name === config.name && path === config.path)) {
          log.info('a sink is configured no more; what lies at its path stays', {
            sink: config.name,
            path: config.path,
          });
        }
      }
      ids.clear();
      memories = next.map((config) => {
        const same = memories.find((memory) => JSON.stringify(memory.config) === JSON.stringify(config));
        return same ?? freshMemory(config);
      });
      due();
    },
    facts: () => memories.map(({ config, fact }) => fact ?? unknown(config)),
    run: async (signal) => {
      signal.addEventListener('abort', due, { once: true });
      while (!signal.aborted) {
        isDue = false;
        // A fault of ours must not take the heartbeats with it.
        await pass(signal).catch((error: unknown) => {
          log.error('the sinks failed in an unforeseen way', {
            cause: error instanceof Error ? error.name : 'unknown',
          });
        });
        if (!isDue && !signal.aborted) await sleep(nextWakeMs());
      }
      await Promise.all(running);
    },
  };

  async function sleep(ms: number): Promise<void> {
    const woken = new AbortController();
    wake = () => woken.abort();
    await clock.sleep(ms, woken.signal);
    wake = () => undefined;
  }
}

/** As it is to be: nothing is tried again. */
const LEFT: ReadonlySet<ErrorCode> = new Set(['sink_drifted', 'sink_in_the_way', 'sink_dropped']);

/** Where the link leads; the empty name once the files were taken away. */
function directoryOf(record: SinkRecord | undefined): string {
  return record?.written?.directory ?? '';
}

function failureOf(error: unknown): Failure {
  if (!isRollcallError(error)) return { problem: 'sink_reload_failed', cause: 'unforeseen' };
  return { problem: error.code, cause: String(error.details['cause'] ?? error.code) };
}

function freshMemory(config: SinkConfig): Memory {
  return { config, isSwept: false, failures: 0, retryAtMs: 0, reload: { failures: 0, retryAtMs: 0 } };
}

/** Nobody has looked at it yet: whoever reads it was told of nothing that is known. */
function unknown({ name, path, secret }: SinkConfig): SinkFact {
  return { name, path, secret, version: null, step: null, state: 'unwritten', live: null };
}

function unloaded(config: SinkConfig, error: unknown): SinkFact {
  const cause = isRollcallError(error) ? String(error.details['cause'] ?? '') : 'unknown';
  return { ...unknown(config), problem: 'sink_record_unusable', cause };
}
