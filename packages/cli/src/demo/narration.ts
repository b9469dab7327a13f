/** How the demo speaks: chapters, short sentences, commands as an operator types them, in 80 columns. */
import { limits } from '@rollcall/core/limits';
import { wrap } from '../output/page.ts';
import type { Style } from '../output/style.ts';
import { type Column, formatTable, type Row } from '../output/table.ts';

export interface Narrator {
  chapter(title: string): void;
  say(text: string): void;
  /** A command, as an operator would type it. */
  command(words: readonly string[]): void;
  /** What a command printed. */
  output(lines: readonly string[]): void;
  /** What the thief does. */
  thief(text: string): void;
  claimHolds(claim: string): void;
  claimFails(claim: string, expected: string, seen: string): void;
  table(columns: readonly Column[], rows: readonly Row[]): void;
}

const WIDTH = limits.outputColumns;

type Kind = 'nothing' | 'heading' | 'speech' | 'command' | 'output' | 'claim';

/** What stands right below what; between all else there is an empty line. */
const joined: Readonly<Record<Kind, readonly Kind[]>> = {
  nothing: ['heading', 'speech', 'command', 'output', 'claim'],
  heading: [],
  speech: ['command', 'claim'],
  command: ['command', 'output', 'claim'],
  output: [],
  claim: ['claim', 'output'],
};

export function createNarrator(write: (text: string) => void, style: Style): Narrator {
  let chapters = 0;
  let last: Kind = 'nothing';
  const print = (kind: Kind, lines: readonly string[]) => {
    const gap = joined[last].includes(kind) ? '' : '\n';
    last = kind;
    write(`${gap}${lines.join('\n')}\n`);
  };
  return {
    chapter: (title) => {
      chapters += 1;
      print('heading', [style.bold(formatRule(`${chapters} ${title}`))]);
    },
    say: (text) => print('speech', wrap(text, WIDTH)),
    command: (words) => print('command', formatCommand(words)),
    output: (lines) => print('output', lines.map(style.dim)),
    thief: (text) => {
      print('speech', hanging('thief: ', text).map(style.warn));
    },
    claimHolds: (claim) => {
      const [first = '', ...rest] = hanging(OK, claim);
      print('claim', [style.good(OK) + first.slice(OK.length), ...rest]);
    },
    claimFails: (claim, expected, seen) =>
      print('claim', [
        ...hanging('FAILED ', claim).map(style.bad),
        ...hanging('  expected ', expected),
        ...hanging('  seen     ', seen),
      ]),
    table: (columns, rows) => print('output', ['', ...formatTable(columns, rows, WIDTH)]),
  };
}

const OK = '  ok   ';

/** `── 3 Pin ────…`, as wide as the page. */
export function formatRule(title: string): string {
  const head = `── ${title} `;
  return head + '─'.repeat(Math.max(0, WIDTH - [...head].length));
}

/** `$ rollcall …`, broken before an option where it is too long, so that it can be copied whole. */
export function formatCommand(words: readonly string[]): string[] {
  const lines: string[] = [];
  let line = '$';
  for (const part of togetherWithValues(words.map(quoted))) {
    if (line !== '$' && line.length + 1 + part.length > WIDTH - ' \\'.length) {
      lines.push(`${line} \\`);
      line = `  ${part}`;
    } else {
      line = `${line} ${part}`;
    }
  }
  return [...lines, line];
}

/** A text whose further lines stand under its first word. */
export function hanging(lead: string, text: string): string[] {
  return wrap(text, WIDTH - lead.length).map((line, at) => (at === 0 ? lead : ' '.repeat(lead.length)) + line);
}

/** An option and what follows it are one part: a line that ends in `--hub` is hard to read. */
function togetherWithValues(words: readonly string[]): readonly string[] {
  const parts: string[] = [];
  for (const word of words) {
    const before = parts.at(-1);
    if (before !== undefined && /^--[\w-]+$/.test(before) && !word.startsWith('-')) {
      parts[parts.length - 1] = `${before} ${word}`;
    } else {
      parts.push(word);
    }
  }
  return parts;
}

/** Anything but what a shell takes as it is. */
function quoted(word: string): string {
  return /^[\w@%+=:,./|<>&$-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
