/** The composition root of the agent: builds the ports, takes the state directory, and runs until it is told to stop. */
import { errorTable, isRollcallError } from '@rollcall/core/errors';
import type { JsonObject, JsonValue } from '@rollcall/core/json';
import type { Log } from '@rollcall/core/ports';
import {
  type AgentProbeAnswer,
  type AgentReloadAnswer,
  type AgentStatusAnswer,
  type Examination,
  type ListenAddress,
  parseListenAddress,
  type SinkConfig,
  version,
} from '@rollcall/wire';
import { lockDirectory } from './adapters/directory-lock.ts';
import { type DoctorOptions, observeAgent } from './adapters/doctor.ts';
import { createHostListener } from './adapters/host-listener.ts';
import { createHostSinks } from './adapters/host-sinks.ts';
import { makeListenerRequest } from './adapters/listener-key.ts';
import { createPinoLog, type LogLevel, type PinoLog } from './adapters/pino-log.ts';
import { readInputFile } from './adapters/read-input-file.ts';
import {
  askProbe,
  askReload,
  askStatus,
  type StatusAgent,
  type StatusSocket,
  serveStatus,
} from './adapters/status-socket.ts';
import { createSystemClock } from './adapters/system-clock.ts';
import { resolveDirectory, systemFiles } from './adapters/system-files.ts';
import { systemRandom } from './adapters/system-random.ts';
import { createTlsTransport } from './adapters/tls-transport.ts';
import type { AgentState } from './agent-state.ts';
import { describeAgent } from './agent-status.ts';
import { judgeAgent } from './doctor/judge-agent.ts';
import { type LoopPorts, runLoop } from './loop.ts';
import { type AgentFlags, type ReadGiven, readGiven } from './read-given.ts';
import { createReload, type LiveOptions, type Reload } from './reload.ts';
import { type ResetWrapKey, resetWrapKey as resetWrapKeyIn } from './reset-wrap-key.ts';
import { statedSinks, withSinks } from './sinks/report-sinks.ts';
import type { Sinks } from './sinks/run-sinks.ts';
import { decideStart } from './start.ts';
import { keepCounters, takeKeptCounters } from './state/kept-counters.ts';
import { loadState, prepareDirectory, type StateDirectory } from './state/load.ts';
import { createPersist } from './state/persist.ts';

export interface AgentOptions extends AgentFlags {
  readonly stateDir: string;
  readonly logLevel?: LogLevel;
  /** `HOST:PORT` of a listener for the hub and for holders of a shared token; without it there is none on the network. */
  readonly listen?: string;
  /** Files with a shared token for other programs on this host. */
  readonly sinks?: readonly SinkConfig[];
  /** Reads the configuration again, on SIGHUP or when the status socket is asked; without it SIGHUP ends the agent. */
  readonly reload?: () => Promise<AgentOptions>;
}

/**
 * Runs an agent. Resolves after `signal` is aborted, or, without one, after SIGTERM or SIGINT. Rejects with a
 * `RollcallError` when it cannot start.
 */
export async function runAgent(options: AgentOptions, control: { readonly signal?: AbortSignal } = {}): Promise<void> {
  const log = createPinoLog(options.logLevel ?? 'info');
  const listen = options.listen === undefined ? undefined : parseListenAddress(options.listen);
  const read = await readGiven(options, readInputFile);
  const directory = await resolveDirectory(options.stateDir);
  const place = { files: systemFiles, directory, uid: process.getuid?.() ?? 0 };
  await prepareDirectory(place);
  const lock = await lockDirectory(directory, systemRandom);
  try {
    const loaded = await loadState(place);
    if (loaded?.damaged !== undefined) {
      log.warn('a slot of the state is damaged; the other one is used', { file: loaded.damaged });
    }
    tolerateAbsent(read, loaded?.state.assignments.has('master') ?? false, log);
    const listening = listen === undefined ? {} : { makeListenerRequest };
    const initial = decideStart(loaded?.state, { ...read.given, ...listening }, systemRandom);
    for (const code of initial.warnings) log.warn(errorTable[code].text, { code, hint: errorTable[code].hint });
    const persist = createPersist(systemFiles, directory, loaded?.inForce);
    const at = { clock: createSystemClock(), log, directory };
    const sinks = createHostSinks(at, options.sinks ?? [], initial.durable.assignments);
    const reload = createReload(options, takeLive(log, sinks), log);
    await serve({
      place,
      initial,
      persist,
      log,
      sinks,
      reload,
      ...(listen === undefined ? {} : { listen }),
      listening,
      listensToHangup: options.reload !== undefined,
      ...control,
    });
  } finally {
    await lock.release();
  }
}

/** Asks the agent that runs on this state directory. Throws `agent_not_running`. */
export async function readAgentStatus(stateDir: string): Promise<AgentStatusAnswer> {
  return askStatus(await resolveDirectory(stateDir));
}

/** Looks at an agent, running or not, and changes nothing (design 8, doctor). */
export async function examineAgent(options: {
  readonly stateDir: string;
  readonly given?: DoctorOptions['given'];
  readonly sinks?: DoctorOptions['sinks'];
  readonly hub?: string;
}): Promise<Examination> {
  const { stateDir, given = [], sinks = [], hub } = options;
  const clock = createSystemClock();
  const transport = createTlsTransport({ clock, log: createPinoLog('silent') });
  try {
    const hubs = hub === undefined ? {} : { hubs: [hub] };
    const agent = await observeAgent(await resolveDirectory(stateDir), { given, sinks, ...hubs }, { clock, transport });
    return { part: 'agent', place: agent.directory, isRunning: agent.running !== null, findings: judgeAgent(agent) };
  } finally {
    transport.close();
  }
}

/** Asks the agent that runs on this state directory to read its configuration again. Throws what it was refused with. */
export async function reloadAgent(stateDir: string): Promise<AgentReloadAnswer> {
  return askReload(await resolveDirectory(stateDir));
}

/** Asks the agent that runs on this state directory to probe its own listener. Throws why it cannot. */
export async function probeAgent(stateDir: string): Promise<AgentProbeAnswer> {
  return askProbe(await resolveDirectory(stateDir));
}

/** Gives a stopped agent another wrap key: see `reset-wrap-key.ts`. Throws `state_locked` while an agent runs. */
export async function resetWrapKey(stateDir: string): Promise<ResetWrapKey> {
  const directory = await resolveDirectory(stateDir);
  const place = { files: systemFiles, directory, uid: process.getuid?.() ?? 0 };
  const lock = await lockDirectory(directory, systemRandom);
  try {
    return await resetWrapKeyIn(place, { random: systemRandom, nowMs: createSystemClock().now() });
  } finally {
    await lock.release();
  }
}

/** A token that was redeemed, or a master that was replaced, may be gone from where the configuration names it. */
function tolerateAbsent({ absent }: ReadGiven, hasIdentity: boolean, log: Log): void {
  for (const error of absent) {
    if (!hasIdentity) throw error;
    log.warn('a file that is named at start is not there; this host has an identity and goes on', {
      code: error.code,
      file: String(error.details['file']),
    });
  }
}

async function serve(at: {
  readonly place: StateDirectory;
  readonly initial: AgentState;
  readonly persist: ReturnType<typeof createPersist>;
  readonly log: Log;
  readonly sinks: Sinks;
  readonly reload: Reload;
  readonly listen?: ListenAddress;
  readonly listening: Pick<LoopPorts, 'makeListenerRequest'>;
  readonly listensToHangup: boolean;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { place, initial, persist, log, sinks, reload, listen } = at;
  const { directory } = place;
  const stop = at.signal === undefined ? stopOnSignals() : { signal: at.signal, release: () => undefined };
  const clock = createSystemClock();
  const transport = createTlsTransport({ clock, log });
  const hangUp = () => void reload().catch(() => undefined);
  if (at.listensToHangup) process.on('SIGHUP', hangUp);
  let state = initial;
  const keptCounters = await takeCounters(place, log);
  const listener = createHostListener(
    { clock, random: systemRandom, log, suspendedMs: () => clock.monotonic() - performance.now() },
    initial,
    {
      version,
      sinks: () => statedSinks(sinks.facts()),
      ...(listen === undefined ? {} : { listen }),
      ...(keptCounters === undefined ? {} : { keptCounters }),
    },
  );
  const ended = new AbortController();
  const keeping = sinks.run(AbortSignal.any([stop.signal, ended.signal]));
  try {
    const describe = () => withSinks(describeAgent(state, listener.status()), sinks.facts());
    const { handle, probe, reports } = listener;
    const socket = await serveStatusIfPossible(directory, { describe, reload, handle, probe }, log);
    log.info('agent started', { host: state.durable.host, startup: state.startup, directory });
    try {
      const ports = {
        clock,
        random: systemRandom,
        transport,
        log,
        persist,
        reports,
        sinks: sinks.facts,
        ...at.listening,
      };
      await runLoop(ports, initial, {
        signal: stop.signal,
        onState: (next) => {
          state = next;
          listener.update(next);
          sinks.hold(next.durable.assignments);
        },
      });
    } finally {
      await socket?.close();
    }
    await leaveCounters(place, await listener.close(), log);
    log.info('agent stopped', { host: state.durable.host });
  } finally {
    ended.abort();
    await keeping;
    await listener.close();
    stop.release();
    process.removeListener('SIGHUP', hangUp);
    transport.close();
  }
}

/** A disk that takes not even a socket is no reason to fall silent towards the hub. */
async function serveStatusIfPossible(
  directory: string,
  agent: StatusAgent,
  log: Log,
): Promise<StatusSocket | undefined> {
  try {
    return await serveStatus(directory, agent);
  } catch (error) {
    if (!isRollcallError(error, 'disk_full') && !isRollcallError(error, 'state_unwritable')) throw error;
    log.error('the status socket cannot be made; the agent runs without it', { code: error.code, ...error.details });
    return undefined;
  }
}

/** What cannot be read or removed is not counted on: the hub sees another counter, and that some may be missing. */
async function takeCounters(place: StateDirectory, log: Log): Promise<JsonValue | undefined> {
  try {
    return await takeKeptCounters(place);
  } catch (error) {
    log.warn('what was counted before this start is lost; the count begins anew', { code: codeOf(error) });
    return undefined;
  }
}

async function leaveCounters(place: StateDirectory, counters: JsonObject, log: Log): Promise<void> {
  if (Array.isArray(counters['counters']) && counters['counters'].length === 0) return;
  try {
    await keepCounters(place, counters);
  } catch (error) {
    log.warn('what was counted cannot be kept for the next start; the count begins anew there', {
      code: codeOf(error),
    });
  }
}

function codeOf(error: unknown): string {
  return isRollcallError(error) ? error.code : 'internal';
}

function takeLive(log: PinoLog, sinks: Sinks): (next: LiveOptions) => void {
  return ({ logLevel = 'info', sinks: configured = [] }) => {
    log.setLevel(logLevel);
    sinks.configure(configured);
  };
}

function stopOnSignals(): { readonly signal: AbortSignal; readonly release: () => void } {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const names = ['SIGTERM', 'SIGINT'] as const;
  for (const name of names) process.on(name, stop);
  return {
    signal: stopping.signal,
    release: () => {
      for (const name of names) process.removeListener(name, stop);
    },
  };
}
