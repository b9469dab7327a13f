/**
 * One thing at a time. Whatever code awaits (store, files, network, clock) parks here; a step resumes one parked
 * continuation and lets it run until it parks again. Which one is next is chance out of the seed, so a run replays
 * exactly, and a crash is the loss of what a process has parked.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Dice } from './dice.ts';
import type { Trace } from './trace.ts';

/** Work of one process that ends: a request, a job, the life of an agent. */
export interface Task {
  readonly process: string;
  readonly name: string;
  /** The host in whose name it is done; `undefined` for what operators and the hub itself do. */
  readonly host: string | undefined;
  parked: number;
  hasEnded: boolean;
}

/** Something that waits; `wake` makes it due at once. */
export interface Waiting {
  readonly due: Promise<void>;
  wake(): void;
}

interface Parked {
  readonly task: Task | undefined;
  readonly what: string;
  /** Infinity: only `wake` ends it. */
  dueMs: number;
  readonly resume: () => void;
  /** Whether this is something that happens in the world, and no await of a store or a file. */
  readonly isEvent: boolean;
}

/** What a run failed on: the simulator's own rules, or an invariant. */
export class Violation extends Error {
  override readonly name = 'Violation';
  readonly rule: string;

  constructor(rule: string, message: string) {
    super(`${rule}: ${message}`);
    this.rule = rule;
  }
}

const drain = promisedImmediate(setImmediate);

/**
 * Follows a task through its awaits, also where it waits for something that another task reads for both. One for all runs: at every
 * promise node asks each that was ever made, and one a run would slow the next one down.
 */
const running = new AsyncLocalStorage<Task>();

export class Scheduler {
  /** True time, which no machine knows. */
  nowMs = 0;
  steps = 0;
  events = 0;
  readonly #dice: Dice;
  readonly #trace: Trace;
  readonly #onTaskFailed: (task: Task, error: unknown) => void;
  #parked: Parked[] = [];
  /** Tasks with nothing parked: they wait for another task of their process. */
  readonly #adrift = new Set<Task>();

  constructor(dice: Dice, trace: Trace, onTaskFailed: (task: Task, error: unknown) => void) {
    this.#dice = dice;
    this.#trace = trace;
    this.#onTaskFailed = onTaskFailed;
  }

  /** Whose continuation is running. */
  get current(): Task | undefined {
    return running.getStore();
  }

  /** Begins `work` as a step of its own. `host`: in whose name it is done. */
  spawn(process: string, name: string, work: () => Promise<void>, host?: string): Task {
    const task: Task = { process, name, host, parked: 0, hasEnded: false };
    this.#add({
      task,
      what: 'begins',
      dueMs: this.nowMs,
      isEvent: true,
      resume: () => {
        running.run(task, work).then(
          () => {
            task.hasEnded = true;
          },
          (error: unknown) => {
            task.hasEnded = true;
            this.#onTaskFailed(task, error);
          },
        );
      },
    });
    return task;
  }

  /** An act of the world, of no process. */
  after(delayMs: number, what: string, act: () => void): void {
    this.#add({ task: undefined, what, dueMs: this.nowMs + delayMs, isEvent: true, resume: act });
  }

  /** Parks the running task. */
  park(what: string, delayMs = 0): Promise<void> {
    return this.#wait(what, delayMs, false).due;
  }

  /** Parks the running task until then, or until it is woken. */
  wait(what: string, delayMs: number): Waiting {
    return this.#wait(what, delayMs, true);
  }

  /** What the process has parked is lost. */
  kill(process: string): void {
    this.#parked = this.#parked.filter((parked) => parked.task?.process !== process);
    for (const task of this.#adrift) if (task.process === process) this.#adrift.delete(task);
  }

  /** Resumes one of those that are due, after letting time pass until one is. `false`: nothing will ever happen again. */
  async step(untilMs: number): Promise<boolean> {
    const index = this.#choose(untilMs);
    if (index === undefined) return false;
    const [parked] = this.#parked.splice(index, 1) as [Parked];
    const { task } = parked;
    this.steps += 1;
    if (parked.isEvent) this.events += 1;
    this.#trace.mix(`${this.nowMs} ${task?.process ?? ''} ${task?.name ?? ''} ${parked.what}`);
    if (task !== undefined) {
      task.parked -= 1;
      this.#adrift.add(task);
    }
    parked.resume();
    await drain();
    for (const adrift of this.#adrift) this.#assertParked(adrift, parked.what);
    return true;
  }

  /** A process with running work has a continuation parked, or what it awaits is beyond the scheduler: a real timer, a leak. */
  #assertParked(task: Task, after: string): void {
    if (task.hasEnded || task.parked > 0) {
      this.#adrift.delete(task);
      return;
    }
    const isCarried = this.#parked.some(
      ({ task: other, what, dueMs }) =>
        other?.process === task.process && what !== 'begins' && (what !== 'sleeps' || dueMs <= this.nowMs),
    );
    if (isCarried) return;
    throw new Violation(
      'unparked',
      `${task.name} of ${task.process} awaits something that is not parked, after ${after}`,
    );
  }

  #wait(what: string, delayMs: number, isEvent: boolean): Waiting {
    const task = this.current;
    if (task === undefined) throw new Violation('unparked', `${what} is awaited outside of any task`);
    let parked: Parked | undefined;
    const due = new Promise<void>((resolve) => {
      parked = this.#add({ task, what, dueMs: this.nowMs + delayMs, isEvent, resume: resolve });
    });
    return {
      due,
      wake: () => {
        if (parked !== undefined) parked.dueMs = Math.min(parked.dueMs, this.nowMs);
      },
    };
  }

  #add(parked: Parked): Parked {
    if (parked.task !== undefined) parked.task.parked += 1;
    this.#parked.push(parked);
    return parked;
  }

  #choose(untilMs: number): number | undefined {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { dueMs } of this.#parked) earliest = Math.min(earliest, dueMs);
    if (earliest > untilMs) {
      this.nowMs = Math.max(this.nowMs, untilMs);
      return undefined;
    }
    this.nowMs = Math.max(this.nowMs, earliest);
    const due: number[] = [];
    for (let index = 0; index < this.#parked.length; index += 1) {
      if ((this.#parked[index] as Parked).dueMs <= this.nowMs) due.push(index);
    }
    return this.#dice.pick(due);
  }
}

/** The one real timer of a run: it lets every microtask run, and is taken before the traps are set. */
function promisedImmediate(immediate: typeof setImmediate): () => Promise<void> {
  return () => new Promise((resolve) => void immediate(resolve));
}
