/** A real process of the product: its output is kept, and it is ended by its own pid. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recorder } from './recorder.ts';

export const root: string = join(import.meta.dirname, '..', '..', '..');
/** What was built, since that is what ships. */
export const mainFile: string = join(root, 'packages', 'cli', 'dist', 'main.js');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
  readonly hasEnded: () => boolean;
  /** Sends the signal, and resolves when the process is gone. */
  readonly kill: (signal?: NodeJS.Signals) => Promise<Ended>;
}

export interface StartChild {
  readonly name: string;
  readonly args: readonly string[];
  readonly recorder: Recorder;
  readonly env?: Readonly<Record<string, string>>;
  /** For node itself, before the file that it runs. */
  readonly nodeArgs?: readonly string[];
  /** A program that runs node, with its arguments. */
  readonly under?: readonly string[];
  /** For standard input, which is closed after it. */
  readonly input?: Uint8Array;
}

export function startChild({ name, args, recorder, env = {}, nodeArgs = [], under = [], input }: StartChild): Child {
  const command = [...under, process.execPath, ...nodeArgs, mainFile, ...args];
  const stdout = recorder.stream('stdout', name);
  const stderr = recorder.stream('stderr', name);
  const child = spawn(command[0] ?? '', command.slice(1), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', COLUMNS: '120', ...env },
  });
  child.stdout.on('data', stdout.push);
  child.stderr.on('data', stderr.push);
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const pid = child.pid ?? 0;
  keepArguments(recorder, name, pid);
  let isOver = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      isOver = true;
      resolve({ code, signal });
    });
  });
  return {
    name,
    pid,
    stdout: stdout.text,
    stderr: stderr.text,
    ended,
    hasEnded: () => isOver,
    kill: (signal = 'SIGKILL') => {
      send(child, signal);
      return ended;
    },
  };
}

function send(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
}

/** Arguments are readable by every user of the machine (I12). */
function keepArguments(recorder: Recorder, name: string, pid: number): void {
  try {
    recorder.keep('arguments', name, readFileSync(`/proc/${pid}/cmdline`));
  } catch {
    // No procfs here, or the process is gone already.
  }
}
