/** strace, where there is one: which calls a program makes on some paths, and a fault at exactly one of them. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Call {
  readonly name: string;
  /** Among the calls of this name on these paths, from 1. */
  readonly nth: number;
  /** It changes what is on the disk, or for how long. */
  readonly changes: boolean;
}

export interface CallFault {
  readonly call: Call;
  /** The process is killed before the call; or the call is not made, and fails so. */
  readonly what: 'KILL' | 'EIO' | 'ENOSPC';
}

/** Not where it is missing, or may not trace. */
export const hasStrace: boolean = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

/** Counts are those of one thread: node has its file calls made by one alone. */
export const ONE_THREAD = { UV_THREADPOOL_SIZE: '1' } as const;

/** What stands before a command line: calls on exactly these paths are written to `file`, and one of them meets the fault. */
export function underStrace(paths: readonly string[], file: string, fault?: CallFault): readonly string[] {
  const traced = fault === undefined ? calls.join() : fault.call.name;
  return [
    'strace',
    // As a grandchild: the process that is started is the program itself, to be waited for and ended by its own id.
    // Its filter (--seccomp-bpf) would be faster, but then strace 6.1 injects no signal.
    ...['-D', '-f', '-q', '-o', file, '-e', `trace=${traced}`],
    ...paths.flatMap((path) => ['-P', path]),
    ...(fault === undefined ? [] : ['-e', `inject=${fault.call.name}:${effectOf(fault)}:when=${fault.call.nth}`]),
  ];
}

/** In the order in which they were made. */
export function readCalls(file: string): readonly Call[] {
  const counts = new Map<string, number>();
  const made: Call[] = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const name = /^\d+\s+(\w+)\(/.exec(line)?.[1];
    if (name === undefined) continue;
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    made.push({ name, nth, changes: CHANGING.has(name) || line.includes('O_CREAT') });
  }
  return made;
}

/** Whether the fault was met: a kill shows in how the process ended, an error in the trace. */
export function wasInjected(file: string): boolean {
  return /\(INJECTED\)|\+\+\+ killed by SIGKILL/.test(readFileSync(file, 'utf8'));
}

/** Every call by which node reads and writes files, by any of their names. */
const calls = [
  ...['openat', 'close', 'read', 'pread64', 'write', 'pwrite64', 'fsync', 'fdatasync', 'readlink', 'getdents64'],
  ...['rename', 'unlink', 'mkdir', 'chmod', 'fchmod', 'statx', 'newfstatat', 'fstat', 'lstat', 'link', 'ftruncate'],
];

const CHANGING: ReadonlySet<string> = new Set([
  ...['write', 'pwrite64', 'fsync', 'fdatasync', 'rename', 'unlink', 'mkdir', 'chmod', 'fchmod', 'link', 'ftruncate'],
]);

function effectOf({ what }: CallFault): string {
  // With an error, so that the call is certainly not made any more.
  return what === 'KILL' ? 'error=EIO:signal=KILL' : `error=${what}`;
}
