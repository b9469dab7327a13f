/** A clock that stands still until it is told to go on. */
import type { Clock } from '../ports.ts';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly task: () => void;
}

/** `Clock` under the test's hand. Elapsed time and timers move with `advance` alone; the wall clock can also be set. */
export class FakeClock implements Clock {
  #wallMs: number;
  #elapsedMs = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  /** Begins at `startMs`, Unix milliseconds. */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#wallMs = startMs;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const cancel = this.after(ms, resolve);
      signal?.addEventListener(
        'abort',
        () => {
          cancel();
          resolve();
        },
        { once: true },
      );
    });
  }

  after(ms: number, task: () => void): () => void {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, ms), order: this.#order++, task };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Timers that have not run and were not cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  /**
   * Lets `ms` pass, on both clocks. Runs what falls due, in order, each at its own time; what waited on it goes on before
   * the next timer runs, so that a loop which sleeps again is carried through the whole span.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await settle();
    for (let timer = this.#nextDue(endMs); timer !== undefined; timer = this.#nextDue(endMs)) {
      this.#pass(timer.dueMs - this.#elapsedMs);
      this.#timers.delete(timer);
      timer.task();
      await settle();
    }
    this.#pass(endMs - this.#elapsedMs);
  }

  /** Sets the wall clock, as an operator or a time server would. No time passes. */
  setWall(unixMs: number): void {
    this.#wallMs = unixMs;
  }

  #pass(ms: number): void {
    this.#elapsedMs += ms;
    this.#wallMs += ms;
  }

  #nextDue(endMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue;
      if (next === undefined || timer.dueMs < next.dueMs || (timer.dueMs === next.dueMs && timer.order < next.order)) {
        next = timer;
      }
    }
    return next;
  }
}

/** Long enough for a chain of awaits behind a timer; a real timer is never needed. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 32; turn += 1) await Promise.resolve();
}
