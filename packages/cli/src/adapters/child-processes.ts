/** Processes that this one starts and never leaves behind: each is known by its pid, and ended on every way out. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

export interface ProcessOptions {
  /** How it is called in a report. */
  readonly name: string;
  /** Arguments of node. */
  readonly args: readonly string[];
  /** Takes standard output and standard error. */
  readonly logFile: string;
  /** What it says over the channel; with it, `send` works. */
  readonly onMessage?: (message: unknown) => void;
}

export interface OwnProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves when it has ended, to how. */
  readonly ended: Promise<string>;
  /** How it ended; `undefined` while it runs. */
  end(): string | undefined;
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM' | 'SIGKILL'): void;
  send(message: object): void;
  /** SIGTERM, and SIGKILL for one that does not heed it. */
  stop(): Promise<void>;
}

export interface OwnProcesses {
  start(options: ProcessOptions): OwnProcess;
}

const STOP_MS = 3_000;

export function createProcesses(): OwnProcesses {
  const running = new Set<ChildProcess>();
  // The last way out: an error that nobody caught, or a second Ctrl-C.
  process.on('exit', () => {
    for (const child of running) child.kill('SIGKILL');
  });
  return { start: (options) => start(options, running) };
}

function start({ name, args, logFile, onMessage }: ProcessOptions, running: Set<ChildProcess>): OwnProcess {
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(process.execPath, args, {
    stdio: onMessage === undefined ? ['ignore', log, log] : ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  running.add(child);
  let how: string | undefined;
  const ended = new Promise<string>((resolve) => {
    const end = (text: string) => {
      how ??= text;
      running.delete(child);
      resolve(how);
    };
    child.once('error', (error: NodeJS.ErrnoException) => end(`could not start: ${error.code ?? error.name}`));
    child.once('exit', (code, signal) => end(signal === null ? `exit ${code}` : `killed by ${signal}`));
  });
  if (onMessage !== undefined) child.on('message', onMessage);
  return {
    name,
    pid: child.pid ?? 0,
    ended,
    end: () => how,
    signal: (signal) => {
      child.kill(signal);
    },
    send: (message) => {
      if (child.connected) child.send(message);
    },
    stop: async () => {
      if (how !== undefined) return;
      // One that was stopped takes no SIGTERM before it is woken.
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
