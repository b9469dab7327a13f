/** What sinks need of the system beyond the ports of core: links and owners of files, and other processes. */
import type { Files } from '@rollcall/core/ports';

/** What is at a path itself: a link is not followed. */
export type Found =
  | { readonly kind: 'absent' }
  | { readonly kind: 'link'; readonly target: string }
  | ({ readonly kind: 'file' | 'directory' | 'other' } & Looks);

export interface Looks {
  /** Permission bits with those above them: the sticky bit is 0o1000. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** Errors carry the system's `code`, as those of `Files`. */
export interface SinkFiles extends Omit<Files, 'stat'> {
  look(path: string): Promise<Found>;
  /** The same of what a link leads to. */
  lookThrough(path: string): Promise<Found>;
  /** Changes owner and group where they are given, then the mode; makes that durable. Follows no link. */
  give(path: string, looks: { readonly mode: number; readonly uid?: number; readonly gid?: number }): Promise<void>;
  /** Makes a symbolic link; `EEXIST` where something is. */
  link(target: string, path: string): Promise<void>;
  removeDirectory(path: string): Promise<void>;
}

/** Names to numbers; `undefined` for what is not known here. */
export interface Accounts {
  userId(name: string): Promise<number | undefined>;
  groupId(name: string): Promise<number | undefined>;
}

export interface Processes {
  /** Of this process. */
  readonly self: { readonly pid: number; readonly uid: number };
  /** The user of a living process; `undefined` for none, for a thread, and for one that has ended and is not collected yet. */
  look(pid: number): Promise<{ readonly uid: number } | undefined>;
  signal(pid: number, signal: string): void;
  /** Runs a program without a shell, with this environment and no other, and ends it with all that it started when it takes too long. */
  run(command: readonly string[], options: RunOptions): Promise<RunOutcome>;
}

export interface RunOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type RunOutcome =
  | { readonly kind: 'exited'; readonly status: number }
  /** By a signal that was not ours. */
  | { readonly kind: 'killed' }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'not_started'; readonly cause: string }
  | { readonly kind: 'aborted' };
