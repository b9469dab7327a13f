/** The clocks of one machine: they drift, and its wall clock can be set. Timers may be late, as those of a busy machine are. */
import type { Clock } from '@rollcall/core/ports';
import type { Scheduler } from './scheduler.ts';

export const START_MS = Date.UTC(2026, 2, 1, 12);

export class MachineClock implements Clock {
  readonly #scheduler: Scheduler;
  readonly #lateMs: () => number;
  #rate: number;
  /** Where the rate began to count. */
  #sinceMs: number;
  #elapsedMs = 0;
  #wallOffsetMs: number;

  constructor(scheduler: Scheduler, wish: { rate: number; wallOffsetMs: number; lateMs: () => number }) {
    this.#scheduler = scheduler;
    this.#rate = wish.rate;
    this.#sinceMs = scheduler.nowMs;
    this.#wallOffsetMs = START_MS + scheduler.nowMs + wish.wallOffsetMs;
    this.#lateMs = wish.lateMs;
  }

  now(): number {
    return Math.floor(this.#wallOffsetMs + this.monotonic());
  }

  monotonic(): number {
    return this.#elapsedMs + (this.#scheduler.nowMs - this.#sinceMs) * this.#rate;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    const waiting = this.#scheduler.wait('sleeps', ms / this.#rate + this.#lateMs());
    signal?.addEventListener('abort', waiting.wake, { once: true });
    await waiting.due;
    signal?.removeEventListener('abort', waiting.wake);
  }

  after(ms: number, task: () => void): () => void {
    let isCancelled = false;
    this.#scheduler.after(ms / this.#rate, 'timer', () => {
      if (!isCancelled) task();
    });
    return () => {
      isCancelled = true;
    };
  }

  /** Sets the wall clock forward, or back. */
  step(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  drift(rate: number): void {
    this.#elapsedMs = this.monotonic();
    this.#sinceMs = this.#scheduler.nowMs;
    this.#rate = rate;
  }
}
