/** What `rollcall doctor` finds: one shape for hub and agent, each finding with the command that mends it (design 8). */

export interface Finding {
  /** Stable, for scripts. */
  readonly code: string;
  /** The file, address or setting that it is about. */
  readonly about: string;
  readonly text: string;
  /** To be typed. */
  readonly remedy: string;
}

/** Not a fault: what a person decided and may have forgotten, with the reason that was given (design 3). */
export interface DecidedRung {
  /** A host, or `the fleet`. */
  readonly whose: string;
  readonly rung: string;
  /** `null`: it cannot be read. */
  readonly accepted: boolean | null;
  readonly reason: string;
}

export interface Examination {
  readonly part: 'hub' | 'agent';
  /** Directory that was looked at. */
  readonly place: string;
  /** Whether a process answered there: without one its files alone were looked at. */
  readonly isRunning: boolean;
  readonly findings: readonly Finding[];
  /** Of a hub, where anything was decided. */
  readonly decidedRungs?: readonly DecidedRung[];
}

/** What is known of a file without opening it. */
export type FileFact =
  | { readonly state: 'absent' }
  | { readonly state: 'unknown'; readonly cause: string }
  | {
      readonly state: 'there';
      readonly kind: 'file' | 'directory' | 'socket' | 'other';
      readonly mode: number;
      readonly uid: number;
    };

const PLAIN_PATH = /^[A-Za-z0-9_./:@%+,=-]+$/;

/** The path as one word of a shell, so that a remedy can be copied. */
export function shellWord(path: string): string {
  return PLAIN_PATH.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Who else may reach a private file, and whose it is: the same two questions for every one of them. */
export function judgePrivacy(
  fact: FileFact,
  {
    path,
    uid,
    loose,
    foreign,
  }: { readonly path: string; readonly uid: number; readonly loose: string; readonly foreign: string },
): Finding[] {
  if (fact.state !== 'there') return [];
  const word = shellWord(path);
  const findings: Finding[] = [];
  if (fact.uid !== uid) {
    // Whoever looks at what another user runs is not to take it away from him.
    const text = `It belongs to user ${fact.uid}, and this is user ${uid}. If it is to be so, look as user ${fact.uid} instead.`;
    findings.push({ code: foreign, about: path, text, remedy: `chown ${uid} ${word}` });
  }
  if ((fact.mode & 0o077) !== 0) {
    const text = `Others may reach it: its mode is ${fact.mode.toString(8).padStart(4, '0')}.`;
    const remedy = `chmod ${fact.kind === 'directory' ? '700' : '600'} ${word}`;
    findings.push({ code: loose, about: path, text, remedy });
  }
  return findings;
}

/** Below this, a commit or a new generation may not find room. */
export function judgeSpace(path: string, freeBytes: number | null, leastBytes: number): Finding[] {
  if (freeBytes === null || freeBytes >= leastBytes) return [];
  const text = `The disk has ${Math.floor(freeBytes / 1_048_576)} MiB left, and is to have ${leastBytes / 1_048_576}.`;
  return [{ code: 'disk_nearly_full', about: path, text, remedy: `df -h ${shellWord(path)}` }];
}
