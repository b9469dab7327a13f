/** Processes of a benchmark: each on one core where the system can do that, and asked over the channel to its parent. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What a process of a benchmark answers to, by name. */
export type Answers = Readonly<Record<string, (argument: never) => unknown>>;

export interface Asked<A extends Answers> {
  ask<Name extends keyof A & string>(
    name: Name,
    ...argument: Parameters<A[Name]>
  ): Promise<Awaited<ReturnType<A[Name]>>>;
  end(): Promise<void>;
}

/** The cores that this process may use; empty where `taskset` is not there to choose one. */
export function usableCores(): readonly number[] {
  if (spawnSync('taskset', ['--version']).status !== 0) return [];
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

export function startProcess<A extends Answers>(
  script: string,
  args: readonly string[],
  core: number | undefined,
): Asked<A> {
  const node = [process.execPath, '--expose-gc', fileURLToPath(new URL(script, import.meta.url)), ...args];
  const [command = '', ...rest] = core === undefined ? node : ['taskset', '-c', String(core), ...node];
  const child = spawn(command, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let id = 0;
  return {
    ask: (name, ...argument) => {
      id += 1;
      return askOnce(child, { id, name, argument: argument[0] }) as never;
    },
    end: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** In the process itself: answers until it is ended, or its parent is no more. */
export function answerParent(answers: Answers): void {
  process.on('message', (question: Question) => void answer(answers, question));
  process.once('SIGTERM', () => process.exit(0));
  process.once('disconnect', () => process.exit(1));
}

async function answer(answers: Answers, { id, name, argument }: Question): Promise<void> {
  let reply: Answer;
  try {
    reply = { id, value: await answers[name]?.(argument as never) };
  } catch (error) {
    reply = { id, error: String((error as Error).stack) };
  }
  process.send?.(reply);
}

function askOnce(child: ChildProcess, question: Question): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = () => {
      child.off('message', take);
      child.off('exit', fail);
    };
    const fail = () => {
      end();
      reject(new Error(`a process of the benchmark ended: ${child.spawnargs.join(' ')}`));
    };
    const take = ({ id, value, error }: Answer) => {
      if (id !== question.id) return;
      end();
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    };
    child.on('message', take);
    child.once('exit', fail);
    child.send(question);
  });
}
