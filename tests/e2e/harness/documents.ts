/**
 * The commands of a document for users, as a reader meets them. A `sh` block is a list of commands, one a line (a backslash
 * goes on). A `text` block right below it is what they print. Above a block may stand marks, which a rendered page
 * does not show:
 *
 *     <!-- run: exit 3 -->                its last command ends so; the others, and those of other blocks, with 0
 *     <!-- run: until exit 0 -->          the same, each command repeated for a while: a person would wait and look again. What
 *                                         is refused (any other code) has changed nothing, and is repeated until it reads as shown
 *     <!-- run: with --beat 300ms -->     flags added for the test alone, so that it need not wait as long as a fleet does
 *     <!-- run: FULL of ./agent-1 -->     what FULL stands for: the fingerprint that `rollcall agent status` shows there
 *     <!-- run: stop ./agent-1 -->        before the block: what runs on that directory is stopped, as a host is switched off
 *     <!-- run: hub agent-1 agent-2 -->   from here on another directory, with a hub in ./hub, and hosts that have enrolled
 *     <!-- run: given ./master.txt -->    a file that the reader has: a master is drawn and put there
 *     <!-- run: token to ./a.token -->    what a person does with a token that the block prints: it is put there
 *     <!-- run: not here: REASON -->      cannot be run by a test
 *
 * Above a block of another kind may stand one mark:
 *
 *     <!-- run: file ./agent-1.yaml -->   what the reader writes: the block is put there
 */

export interface Step {
  readonly command: string;
  /** Of the first line of the command. */
  readonly line: number;
  /** Exit code, and whether it is waited for. */
  readonly exit: number;
  readonly isWaitedFor: boolean;
  readonly extraFlags: string;
  /** State directory whose fingerprint FULL is. */
  readonly fullOf: string | undefined;
}

export interface Block {
  readonly steps: readonly Step[];
  readonly stops: readonly string[];
  /** Hosts of a fleet that is to be there before. */
  readonly fleet: readonly string[] | undefined;
  /** Files with a master of the reader's own. */
  readonly given: readonly string[];
  /** File for the token that is printed. */
  readonly tokenTo: string | undefined;
  readonly notRun: string | undefined;
  /** What is written before. */
  readonly file: { readonly path: string; readonly text: string } | undefined;
  /** What a reader is shown as printed. */
  readonly printed: string | undefined;
  /** Where `printed` stands in the text, from and to. */
  readonly printedAt: readonly [number, number];
}

/** Throws on a mark that it does not understand. */
export function readBlocks(text: string): readonly Block[] {
  const files = [...text.matchAll(FILE)].map((match) => ({ at: match.index, block: toFile(match) }));
  const commands = [...text.matchAll(BLOCK)].map((match) => ({ at: match.index, block: toBlock(text, match) }));
  return [...files, ...commands].sort((a, b) => a.at - b.at).map(({ block }) => block);
}

/** Every `rollcall …` that stands in running text, between single back quotes. */
export function readMentions(text: string): readonly string[] {
  const prose = text.replaceAll(/^```[^\n]*\n[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/`(rollcall [^`]+)`/g)].map(([, command = '']) => command.replaceAll(/\s+/g, ' '));
}

const BLOCK = /((?:^<!-- run: [^\n]+ -->\n)*)^```sh\n([\s\S]*?)\n```(?:\n\n```text\n([\s\S]*?)\n```)?/gm;
const FILE = /^<!-- run: file (\S+) -->\n```\w+\n([\s\S]*?\n)```/gm;

function toBlock(text: string, match: RegExpExecArray): Block {
  const [all, marks = '', body = '', printed] = match;
  const bodyAt = match.index + all.indexOf('```sh\n') + '```sh\n'.length;
  const firstLine = text.slice(0, bodyAt).split('\n').length;
  const read = readMarks(marks, firstLine);
  const commands = splitCommands(body, firstLine);
  const printedFrom = match.index + all.length - '\n```'.length - (printed?.length ?? 0);
  return {
    steps: commands.map((command, index) => toStep(command, read, index === commands.length - 1)),
    stops: read.stops,
    fleet: read.fleet,
    given: read.given,
    tokenTo: read.tokenTo,
    notRun: read.notRun,
    file: undefined,
    printed,
    printedAt: [printedFrom, printedFrom + (printed?.length ?? 0)],
  };
}

function toFile([, path = '', text = '']: RegExpExecArray): Block {
  return { ...NOTHING, file: { path, text } };
}

const NOTHING: Block = {
  steps: [],
  stops: [],
  fleet: undefined,
  given: [],
  tokenTo: undefined,
  notRun: undefined,
  file: undefined,
  printed: undefined,
  printedAt: [0, 0],
};

interface Marks {
  exit: number;
  isWaitedFor: boolean;
  extraFlags: string;
  fullOf: string | undefined;
  stops: string[];
  fleet: readonly string[] | undefined;
  given: string[];
  tokenTo: string | undefined;
  notRun: string | undefined;
}

function readMarks(text: string, line: number): Marks {
  const marks: Marks = {
    exit: 0,
    isWaitedFor: false,
    extraFlags: '',
    fullOf: undefined,
    stops: [],
    fleet: undefined,
    given: [],
    tokenTo: undefined,
    notRun: undefined,
  };
  for (const [, mark = ''] of text.matchAll(/<!-- run: (.+?) -->/g)) {
    const words = mark.split(' ');
    const rest = words.slice(1);
    const { 1: until, 2: exit } = /^(until )?exit ([0-3])$/.exec(mark) ?? [];
    if (exit !== undefined) Object.assign(marks, { exit: Number(exit), isWaitedFor: until !== undefined });
    else if (words[0] === 'with') marks.extraFlags = ` ${rest.join(' ')}`;
    else if (mark.startsWith('FULL of ') && words.length === 3) marks.fullOf = words[2];
    else if (words[0] === 'stop' && rest.length > 0) marks.stops.push(...rest);
    else if (words[0] === 'hub') marks.fleet = rest;
    else if (words[0] === 'given' && rest.length > 0) marks.given.push(...rest);
    else if (mark.startsWith('token to ') && words.length === 3) marks.tokenTo = words[2];
    else if (mark.startsWith('not here: ')) marks.notRun = mark.slice('not here: '.length);
    else throw new Error(`line ${line}: this mark is not understood: ${mark}`);
  }
  return marks;
}

function splitCommands(body: string, firstLine: number): readonly { readonly text: string; readonly line: number }[] {
  const commands: { text: string; line: number }[] = [];
  let goesOn = false;
  for (const [index, line] of body.split('\n').entries()) {
    const last = commands.at(-1);
    if (goesOn && last !== undefined) last.text += `\n${line}`;
    else if (line.trim() !== '' && !line.startsWith('#')) commands.push({ text: line, line: firstLine + index });
    goesOn = line.endsWith('\\');
  }
  return commands;
}

function toStep({ text, line }: { text: string; line: number }, marks: Marks, isLast: boolean): Step {
  const command = marks.extraFlags !== '' && isLast ? `${text}${marks.extraFlags}` : text;
  return {
    command,
    line,
    exit: isLast ? marks.exit : 0,
    isWaitedFor: marks.isWaitedFor,
    extraFlags: marks.extraFlags,
    fullOf: marks.fullOf,
  };
}
