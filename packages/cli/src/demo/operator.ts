/** The operator of the demo: types real commands, which run in this process over the hub's Unix socket. */
import type { SecretRow } from '@rollcall/wire';
import type { Io, OutputStream } from '../ports.ts';
import { runProgram } from '../program.ts';
import type { Narrator } from './narration.ts';

export interface Typed {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Operator {
  /** Shows the command, and runs it. */
  type(...words: readonly string[]): Promise<Typed>;
  /** Runs it unseen with --json: how the story looks at the hub. Throws where there is no document. */
  ask<Answer>(...words: readonly string[]): Promise<Answer>;
  /** Shows it as it would be typed, and runs it with --json. */
  typeForJson<Answer>(shown: readonly string[], ...words: readonly string[]): Promise<Answer>;
}

export function createOperator(at: {
  readonly io: Io;
  readonly narrator: Narrator;
  readonly dir: string;
  readonly operatorSocket: string;
}): Operator {
  const { io, narrator, dir, operatorSocket } = at;
  const env = { ROLLCALL_HUB: `unix:${operatorSocket}` };
  const run = async (words: readonly string[]): Promise<Typed> => {
    const stdout = collector();
    const stderr = collector();
    const exit = await runProgram(words, { ...io, env, stdout, stderr, stdin: noTerminal(io) });
    return { exit, stdout: stdout.text(), stderr: stderr.text() };
  };
  const ask = async <Answer>(...words: readonly string[]): Promise<Answer> => {
    const { stdout, stderr, exit } = await run([...words, '--json']);
    if (stdout === '') throw new Error(`exit ${exit}: ${stderr.trim()}`);
    return JSON.parse(stdout) as Answer;
  };
  return {
    type: (...words) => {
      narrator.command(['rollcall', ...words.map((word) => shortened(word, dir))]);
      return run(words);
    },
    ask,
    typeForJson: (shown, ...words) => {
      narrator.command(shown);
      return ask(...words);
    },
  };
}

/** A path as it is typed after `cd DIR`. */
export function shortened(word: string, dir: string): string {
  return word.replaceAll(`${dir}/`, '');
}

/** The lines of what a command printed. */
export function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** The same, from the one on that begins with these words; all of them where none does. */
export function linesFrom(text: string, start: string): readonly string[] {
  const lines = linesOf(text);
  return lines.slice(
    Math.max(
      0,
      lines.findIndex((line) => line.startsWith(start)),
    ),
  );
}

/** Of each generation of the master, oldest first. */
export async function states(operator: Operator): Promise<readonly string[]> {
  const { secrets } = await operator.ask<{ secrets: readonly SecretRow[] }>('secret', 'list');
  return secrets.flatMap(({ versions }) => versions.map(({ state }) => state));
}

function collector(): OutputStream & { text(): string } {
  const parts: string[] = [];
  return {
    write: (text) => parts.push(text),
    isTerminal: false,
    columns: undefined,
    rows: undefined,
    text: () => parts.join(''),
  };
}

function noTerminal({ stdin }: Io): Io['stdin'] {
  return { ...stdin, isTerminal: false };
}
