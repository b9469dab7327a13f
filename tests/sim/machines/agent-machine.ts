/** A host's machine: its disk, its clock, and one process at a time of the shipped agent, which can be killed at any await. */
import {
  type AgentState,
  createHostListener,
  createPersist,
  decideStart,
  type Given,
  type HostListener,
  keepCounters,
  loadState,
  prepareDirectory,
  presentedToken,
  runLoop,
  takeKeptCounters,
  tokenDigest,
} from '@rollcall/agent';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { parseEnrolmentToken, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Clock, Log, Transport, TransportRequest } from '@rollcall/core/ports';
import { parseListenAddress } from '@rollcall/wire';
import type { Dice } from '../engine/dice.ts';
import type { MachineClock } from '../engine/machine-clock.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { DIRECTORY, type Disk, type DiskFaults, UID } from './disk.ts';
import type { Outcome } from './exchange.ts';
import { HostPlace } from './host-sockets.ts';

export interface AgentMachineParts {
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly clock: MachineClock;
  readonly log: Log;
  readonly faults: DiskFaults;
  /** Sends; the outcome comes later, once, or never. */
  readonly send: (machine: AgentMachine, request: TransportRequest, done: (outcome: Outcome) => void) => void;
  readonly onLoaded: (machine: AgentMachine, wasEmpty: boolean, initial: AgentState) => void;
  readonly onState: (machine: AgentMachine, state: AgentState) => void;
  /** It could not start, or it broke. */
  readonly onEnded: (machine: AgentMachine, error: unknown) => void;
  /** Only in a run with shared tokens: it then has what a host needs to take and to present them. */
  readonly tokens?: AgentTokens;
}

export interface AgentTokens {
  /** Where it is to listen; `undefined`: it does not. */
  readonly listen: string | undefined;
  readonly timerLateMs: () => number;
  /** What the agent found at its own listener. */
  readonly onAsked: (machine: AgentMachine, token: string, isTaken: boolean) => void;
}

export class AgentMachine {
  readonly name: string;
  readonly host: string;
  readonly clock: MachineClock;
  disk: Disk;
  /** Changes when the disk is another, or an earlier, one: then its history is another. */
  lineage: object = {};
  /** Its machine is away: nobody starts it. */
  isGone = false;
  /** What its operator has put into the file that `--enrol` names. */
  tokenText: string | undefined;
  /** Of a host of an older fleet. */
  fleet: Pick<Given, 'host' | 'hubRoot' | 'master' | 'life'> | undefined;
  /** Its own listener, as the network sees it. */
  readonly place: HostPlace = new HostPlace();
  /** What a program on this host reads as the token to present, by secret: it stays there while no agent runs. */
  readonly told = new Map<string, string>();
  /** In the memory of the running agent. */
  state: AgentState | undefined;
  /** The code that it ended with, until it is started again. */
  ended: string | undefined;
  #starts = 0;
  #process = '';
  #stop: (() => void) | undefined;
  readonly #parts: AgentMachineParts;

  constructor(parts: AgentMachineParts, identity: { name: string; host: string }, disk: Disk) {
    this.#parts = parts;
    this.name = identity.name;
    this.host = identity.host;
    this.clock = parts.clock;
    this.disk = disk;
  }

  get isUp(): boolean {
    return this.#process !== '';
  }

  start(): void {
    if (this.isUp) return;
    this.#starts += 1;
    this.#process = `${this.name}/${this.#starts}`;
    this.ended = undefined;
    const process = this.#process;
    this.#parts.scheduler.spawn(process, 'agent', async () => {
      try {
        await this.#run();
      } catch (error) {
        this.crash();
        this.ended = isRollcallError(error) ? error.code : 'internal';
        this.#parts.onEnded(this, error);
      }
    });
  }

  get listens(): boolean {
    return this.#parts.tokens?.listen !== undefined;
  }

  /** SIGTERM: it ends what it does, and writes down what it has counted. `false`: nothing runs that could. */
  stop(): boolean {
    if (this.#stop === undefined) return false;
    this.#stop();
    return true;
  }

  /** Somebody calls its listener: in a task of its own. `false`: nobody is there. */
  receive(answer: (place: HostPlace) => void): boolean {
    if (!this.isUp || !this.place.isOpen) return false;
    this.#parts.scheduler.spawn(this.#process, 'call', async () => answer(this.place));
    return true;
  }

  /** `kill -9`: its disk keeps what the system holds of it. */
  crash(): void {
    if (!this.isUp) return;
    this.#parts.scheduler.kill(this.#process);
    this.#process = '';
    this.#stop = undefined;
    this.place.close();
    this.state = undefined;
  }

  cutPower(): void {
    this.crash();
    this.disk = this.disk.cutPower(this.#parts.dice);
  }

  /** Another disk in the same machine: a copy, an earlier one, or an empty one. */
  replaceDisk(disk: Disk): void {
    this.crash();
    this.disk = disk;
    this.lineage = {};
  }

  async #run(): Promise<void> {
    const { scheduler, dice, clock, log, faults, onLoaded, onState } = this.#parts;
    const wasEmpty = this.disk.isEmpty;
    const place = { files: this.disk.open(scheduler, faults), directory: DIRECTORY, uid: UID };
    await prepareDirectory(place);
    const loaded = await loadState(place);
    const initial = decideStart(loaded?.state, this.#given(), dice.bytes);
    onLoaded(this, wasEmpty, initial);
    const persist = createPersist(place.files, DIRECTORY, loaded?.inForce);
    const ports = { clock, random: dice.bytes, transport: this.#transport(), log, persist };
    const stopping = new AbortController();
    const kept = this.#parts.tokens === undefined ? undefined : await takeKeptCounters(place).catch(() => undefined);
    const listener = this.#parts.tokens === undefined ? undefined : this.#listener(initial, kept);
    if (listener !== undefined) this.#stop = () => stopping.abort();
    await runLoop({ ...ports, ...(listener === undefined ? {} : { reports: listener.reports }) }, initial, {
      signal: stopping.signal,
      onState: (state) => {
        this.state = state;
        listener?.update(certified(state));
        for (const [secret, assignment] of state.durable.assignments) {
          const text = presentedToken(assignment);
          if (text !== undefined) this.told.set(secret, text);
          else this.told.delete(secret);
        }
        onState(this, state);
      },
    });
    // As `main.ts` ends it.
    if (listener !== undefined) await keepCounters(place, await listener.close()).catch(() => undefined);
    this.crash();
  }

  /** The shipped listener, over a place of the simulated network. */
  #listener(initial: AgentState, kept: Parameters<typeof createHostListener>[2]['keptCounters']): HostListener {
    const { scheduler, dice, clock, log, tokens } = this.#parts;
    const process = this.#process;
    const after: Clock['after'] = (ms, task) => {
      let isCancelled = false;
      // In a task of this process: so that it ends with it, and what it begins has whom to belong to.
      scheduler.spawn(process, 'listener timer', async () => {
        await clock.sleep(ms + (tokens?.timerLateMs() ?? 0));
        if (!isCancelled) task();
      });
      return () => {
        isCancelled = true;
      };
    };
    const timed: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      after,
    };
    const sockets = this.place.sockets(scheduler, (token, isTaken) => tokens?.onAsked(this, token, isTaken));
    const listen = tokens?.listen;
    return createHostListener(
      { clock: timed, random: dice.bytes, log, suspendedMs: () => 0, sockets },
      certified(initial),
      {
        version: '0.0.0',
        ...(listen === undefined ? {} : { listen: parseListenAddress(listen) }),
        ...(kept === undefined ? {} : { keptCounters: kept }),
      },
    );
  }

  #given(): Given {
    const { tokenText } = this;
    if (tokenText === undefined) return this.fleet ?? {};
    return {
      ...this.fleet,
      enrolment: { token: parseEnrolmentToken(tokenText), digest: tokenDigest(tokenText) },
    };
  }

  #transport(): Transport {
    return {
      request: async (request, signal) => {
        const waiting = this.#parts.scheduler.wait('waits for the hub', limits.answerTimeoutMs);
        let outcome: Outcome | undefined;
        this.#parts.send(this, request, (known) => {
          outcome ??= known;
          waiting.wake();
        });
        signal?.addEventListener('abort', waiting.wake, { once: true });
        await waiting.due;
        signal?.removeEventListener('abort', waiting.wake);
        // Read in a place where the compiler does not know better.
        const known = outcome as Outcome | undefined;
        if (known === undefined) throw new RollcallError('hub_timeout');
        if (known.kind === 'failed') throw new RollcallError(known.code);
        return known.answer;
      },
    };
  }
}

/** Certificates are not what is simulated here: each host has one that is good. The same object for the same state. */
function certified(state: AgentState): AgentState {
  const durable = certifiedStates.get(state.durable) ?? { ...state.durable, listener: { current: CERTIFICATE } };
  certifiedStates.set(state.durable, durable);
  return { ...state, durable };
}

const certifiedStates = new WeakMap<AgentState['durable'], AgentState['durable']>();

const CERTIFICATE = {
  privateKey: new SecretBytes('listener-private', new Uint8Array(1)),
  chain: [new Uint8Array(1)],
  notBeforeMs: 0,
  notAfterMs: Number.MAX_SAFE_INTEGER,
  life: null,
};
