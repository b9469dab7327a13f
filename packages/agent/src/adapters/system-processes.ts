/** Other processes of this machine, by proc(5) and signals. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Processes, RunOptions, RunOutcome } from '../sinks/ports.ts';
import { systemCode } from '../state/files-on-disk.ts';

export const systemProcesses: Processes = {
  self: { pid: process.pid, uid: process.getuid?.() ?? 0 },
  look: async (pid) => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const uid = /^Uid:\t(\d+)/m.exec(status)?.[1];
    const group = /^Tgid:\t(\d+)/m.exec(status)?.[1];
    const state = /^State:\t(\S)/m.exec(status)?.[1];
    const isAlive = uid !== undefined && Number(group) === pid && state !== 'Z' && state !== 'X';
    return isAlive ? { uid: Number(uid) } : undefined;
  },
  signal: (pid, signal) => {
    process.kill(pid, `SIG${signal}`);
  },
  run,
};

/** In a group of its own, so that what it started ends with it. What it prints is nobody's: it might quote the file. */
function run([program = '', ...given]: readonly string[], options: RunOptions): Promise<RunOutcome> {
  const { environment, timeoutMs, signal } = options;
  if (signal.aborted) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(program, given, { cwd: '/', env: { ...environment }, stdio: 'ignore', detached: true });
    } catch (error) {
      resolve({ kind: 'not_started', cause: systemCode(error) ?? 'unknown' });
      return;
    }
    const settle = (outcome: RunOutcome) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve(outcome);
    };
    // Settles by itself: a process that waits for a broken disk ends when that does, and not before.
    const end = (kind: 'timed_out' | 'aborted') => {
      endGroup(child);
      settle({ kind });
    };
    const abort = () => end('aborted');
    const timer = setTimeout(() => end('timed_out'), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    child.once('error', (error) => settle({ kind: 'not_started', cause: systemCode(error) ?? 'unknown' }));
    child.once('exit', (status) => settle(status === null ? { kind: 'killed' } : { kind: 'exited', status }));
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended in this moment.
  }
}
