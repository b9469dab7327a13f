/** The story of a demo: claims, each held against what was seen, and waits that end. What it claims is its exit code. */
import type { Clock } from '@rollcall/core/ports';
import type { Narrator } from './narration.ts';

export interface Claim {
  readonly claim: string;
  readonly ok: boolean;
  /** As JSON text. */
  readonly expected: string;
  readonly seen: string;
}

export interface Story {
  readonly claims: readonly Claim[];
  /** Throws `StoryEnded` where `seen` is not what was expected: what follows would mean nothing. */
  claim(text: string, expected: unknown, seen: unknown): void;
  /**
   * Reads until what is seen is as expected. Claims it then, with the same words, or that it did not come in time. A
   * reading that throws is tried again. Without words nothing is claimed unless it fails.
   */
  until<T>(wait: Wait<T>): Promise<T>;
  pause(ms: number): Promise<void>;
}

export interface Wait<T> {
  /** What is waited for. */
  readonly what: string;
  readonly read: () => Promise<T>;
  /** The part that matters, compared with `expected` by value. */
  readonly part: (value: T) => unknown;
  readonly expected: unknown;
  readonly withinMs?: number;
  readonly quiet?: boolean;
}

/** A claim did not come true, or a person ended the story. */
export class StoryEnded extends Error {
  override readonly name = 'StoryEnded';
}

const WITHIN_MS = 15_000;
const POLL_MS = 40;

export function createStory(at: {
  readonly narrator: Narrator;
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
  /** A process without which the story cannot go on, and how it ended. */
  readonly lost: () => string | undefined;
}): Story {
  const { narrator, clock, interrupted, lost } = at;
  const claims: Claim[] = [];

  const note = (claim: string, expected: unknown, seen: unknown, quiet = false) => {
    const made = { claim, expected: text(expected), seen: text(seen) };
    const ok = isSame(expected, seen);
    if (quiet && ok) return;
    claims.push({ ...made, ok });
    if (ok) return narrator.claimHolds(claim);
    narrator.claimFails(claim, made.expected, made.seen);
    throw new StoryEnded(claim);
  };
  const assertGoesOn = () => {
    if (interrupted.aborted) throw new StoryEnded('interrupted');
    const gone = lost();
    if (gone !== undefined) note('Every process of the fleet goes on running', 'all run', gone);
  };

  return {
    claims,
    claim: (claim, expected, seen) => {
      assertGoesOn();
      note(claim, expected, seen);
    },
    until: async ({ what, read, part, expected, withinMs = WITHIN_MS, quiet = false }) => {
      const deadlineMs = clock.monotonic() + withinMs;
      let seen: unknown;
      for (;;) {
        assertGoesOn();
        const value = await read().then(
          (some) => ({ some }),
          (error: unknown) => ({ error }),
        );
        seen = 'some' in value ? part(value.some) : describe(value.error);
        const isThere = 'some' in value && isSame(seen, expected);
        if (isThere || clock.monotonic() >= deadlineMs) {
          assertGoesOn();
          note(isThere ? what : `${what} (within ${withinMs / 1_000} s)`, expected, seen, quiet);
          return (value as { some: never }).some;
        }
        await clock.sleep(POLL_MS, interrupted);
      }
    },
    pause: async (ms) => {
      await clock.sleep(ms, interrupted);
      assertGoesOn();
    },
  };
}

/** By value, as JSON says it. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
