/** What is to be done about one sink: a pure decision over what is wanted, what was written last, and what lies there. */

import type { LiveSink } from './live-sink.ts';
import type { Projection } from './project-assignment.ts';

export interface WantedSink {
  readonly projection: Projection;
  readonly mode: number;
  /** Absent: as the system gives it. */
  readonly uid?: number;
  readonly gid?: number;
}

/** What this agent put at the path, kept across starts. */
export interface WrittenSink {
  readonly epoch: number;
  readonly step: number;
  readonly version: number;
  /** The last part of its path: it lies beside the link. */
  readonly directory: string;
  readonly digest: string;
  /** Owners and modes of the directory and its files, as they were seen before the link was turned. */
  readonly looks: string;
  /** `wantedKey` of what was asked for. */
  readonly wanted: string;
  /** The directory before it, which a reader may still be in. */
  readonly former?: string;
}

export interface SinkRecord {
  readonly name: string;
  readonly path: string;
  readonly written?: WrittenSink;
  /** A directory that is being made: after a crash the link may lead to it, or to the one before. */
  readonly writing?: string;
  /** The content has changed, and the program was not told yet. */
  readonly isReloadDue: boolean;
}

export type SinkDecision = 'nothing' | 'write' | 'take_away' | 'drifted' | 'in_the_way';

/**
 * `record` is the one for this path; `wanted` is absent while nothing of the secret was delivered to this host, and `dropped` once the
 * hub has taken it away.
 */
export function planSink(
  wanted: WantedSink | 'dropped' | undefined,
  record: SinkRecord | undefined,
  live: LiveSink,
): SinkDecision {
  const written = record?.written;
  const isKnown = written !== undefined || record?.writing !== undefined;
  // What is not ours is in nobody's way then, and stays.
  if (wanted === 'dropped') return isKnown || (live.kind === 'link' && live.isOurName) ? 'take_away' : 'nothing';
  if (live.kind === 'foreign') return 'in_the_way';
  // A link of ours that nobody remembers is of an agent before this one: its state directory is gone, its sink is not.
  if (live.kind === 'link' && !isKnown && !live.isOurName) return 'in_the_way';
  if (wanted === undefined) return 'nothing';
  // Nothing lies there, as on a file system that is empty after each boot: writing fights with nobody.
  if (live.kind === 'absent' || written === undefined || record?.writing !== undefined) return 'write';
  if (written.wanted !== wantedKey(wanted)) return 'write';
  if (isAsWritten(written, live)) return 'nothing';
  const { epoch, step } = wanted.projection;
  return written.epoch === epoch && written.step === step ? 'drifted' : 'write';
}

export function isAsWritten(written: WrittenSink, live: LiveSink): boolean {
  return (
    live.kind === 'link' &&
    live.target === written.directory &&
    live.content?.digest === written.digest &&
    live.content.looks === written.looks
  );
}

/** All that a file is made from: another one asks for another directory. */
export function wantedKey({ projection, mode, uid, gid }: WantedSink): string {
  return `${projection.secret} ${projection.digest} ${mode.toString(8)} ${uid ?? '-'} ${gid ?? '-'}`;
}
