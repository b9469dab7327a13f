/** A host's machine: its disk, its clock, and one process at a time of the shipped agent, which can be killed at any await. */
import {
  type AgentState,
  createPersist,
  decideStart,
  type Given,
  loadState,
  prepareDirectory,
  runLoop,
  tokenDigest,
} from '@rollcall/agent';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { parseEnrolmentToken } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Log, Transport, TransportRequest } from '@rollcall/core/ports';
import type { Dice } from '../engine/dice.ts';
import type { MachineClock } from '../engine/machine-clock.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { DIRECTORY, type Disk, type DiskFaults, UID } from './disk.ts';
import type { Outcome } from './exchange.ts';

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
  /** In the memory of the running agent. */
  state: AgentState | undefined;
  /** The code that it ended with, until it is started again. */
  ended: string | undefined;
  #starts = 0;
  #process = '';
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

  /** `kill -9`: its disk keeps what the system holds of it. */
  crash(): void {
    if (!this.isUp) return;
    this.#parts.scheduler.kill(this.#process);
    this.#process = '';
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
    await runLoop(ports, initial, {
      signal: new AbortController().signal,
      onState: (state) => {
        this.state = state;
        onState(this, state);
      },
    });
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
      request: async (request) => {
        const waiting = this.#parts.scheduler.wait('waits for the hub', limits.answerTimeoutMs);
        let outcome: Outcome | undefined;
        this.#parts.send(this, request, (known) => {
          outcome ??= known;
          waiting.wake();
        });
        await waiting.due;
        // Read in a place where the compiler does not know better.
        const known = outcome as Outcome | undefined;
        if (known === undefined) throw new RollcallError('hub_timeout');
        if (known.kind === 'failed') throw new RollcallError(known.code);
        return known.answer;
      },
    };
  }
}
