/** What a caller of the demo is told once, and what it says after each round: messages between two processes. */
import type { Verifier } from './present-token.ts';

export interface CallerTask {
  readonly name: string;
  /** Read anew before each request, as a program does that is never restarted. */
  readonly tokenFile: string;
  readonly ca: string;
  readonly localAddress: string;
  readonly everyMs: number;
  readonly verifiers: readonly Verifier[];
}

/** Requests of each verifier, by what came back: `taken`, `refused`, another status, or `unanswered`. */
export type Calls = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface CallerMessage {
  readonly calls: Calls;
}
