/** The whole command line: nouns, verbs and global options, run once with everything it needs given from outside. */

import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { Command, CommanderError, type Option } from 'commander';
import { createCompletionVerb } from './commands/completion.ts';
import { demoVerb } from './commands/demo.ts';
import { doctorVerb } from './commands/doctor.ts';
import { nouns } from './commands/index.ts';
import { createContext } from './context.ts';
import { describeFailure, type Failure, failureJson, formatBlocked, formatFailure } from './failure.ts';
import { createStyle } from './output/style.ts';
import type { Io, OutputStream } from './ports.ts';
import { usageError } from './usage-error.ts';
import { addVerb, type Context, type GlobalOptions, type Result, type Verb } from './verb.ts';

/** Runs `rollcall` with these arguments and returns its exit code: 0 done, 1 failed, 2 usage, 3 blocked (design 8). */
export async function runProgram(argv: readonly string[], io: Io): Promise<number> {
  let exit = 0;
  const program = createProgram(io, async (verb, args, options) => {
    const context = createContext(io, options as GlobalOptions);
    exit = report(context, await attempt(() => verb.run(context, args, options)));
  });
  try {
    // Commander's own `help` knows one word; `help pin approve` is what a person types.
    const words = argv[0] === 'help' ? [...knownWords(program, argv.slice(1)), '--help'] : [...argv];
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    // Options were not all read when this happens, so `--json` and colour are looked for as they were typed.
    const context = createContext(io, { json: argv.includes('--json'), color: !argv.includes('--no-color') });
    return report(context, error instanceof CommanderError ? fromCommander(error, program, argv) : (error as Error));
  }
  return exit;
}

/** The tree of commands without a single act, for help, completion and tests. */
export function createProgram(
  io: Io,
  perform: (verb: Verb, args: readonly string[], options: unknown) => Promise<void>,
): Command {
  const program: Command = new Command('rollcall');
  program
    .description('The credential control plane of a host fleet.')
    .version(io.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show how a command is used')
    .option('--json', 'print one JSON document on standard output, and nothing else')
    .option('--hub <address>', 'where the hub is: unix:PATH or https://HOST:PORT')
    .option('--token-file <file>', 'operator token, for a hub over TCP')
    .option('--hub-root-file <file>', 'what a hub over TCP is known by')
    .option('--no-color', 'no colour (or NO_COLOR)')
    .option('--quiet', 'no progress on standard error')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // Errors are reported by `report`, in one form for all of them.
      outputError: () => undefined,
      getOutHelpWidth: () => limits.outputColumns,
      getErrHelpWidth: () => limits.outputColumns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: (command): Option[] => globalOptionsOf(program, command),
    })
    .addHelpText(
      'after',
      '\nAlso ROLLCALL_HUB, ROLLCALL_TOKEN_FILE, ROLLCALL_HUB_ROOT_FILE and NO_COLOR.\nExit codes: 0 done, 1 failed, 2 usage or configuration, 3 blocked or not ready.\nStart with: rollcall demo --once',
    );
  for (const noun of nouns) {
    const parent = program.command(noun.name).summary(noun.summary).description(`${noun.summary}.`);
    for (const verb of noun.verbs) addVerb(parent, verb, perform);
  }
  addVerb(program, doctorVerb, perform);
  addVerb(
    program,
    createCompletionVerb(() => program),
    perform,
  );
  addVerb(program, demoVerb, perform);
  return program;
}

/** Those of the program that the command does not explain otherwise itself. */
function globalOptionsOf(program: Command, command: Command): Option[] {
  if (command === program) return [];
  const own = new Set(command.options.map((option) => option.long));
  return program.options.filter((option) => option.long !== '--version' && !own.has(option.long));
}

async function attempt(act: () => Promise<Result>): Promise<Result | Error> {
  try {
    return await act();
  } catch (error) {
    return error instanceof Error ? error : new RollcallError('internal', {}, { cause: error });
  }
}

/** Writes what came of it, and returns the exit code. */
function report(context: Context, outcome: Result | Error): number {
  const { io, global, view } = context;
  const result = outcome instanceof Error ? undefined : outcome;
  const failed = outcome instanceof Error ? outcome : outcome.failure;
  const failure = failed === undefined ? undefined : describeFailure(failed);
  // A person who sees both streams at once need not read the same twice.
  const isSeenTwice = io.stdout.isTerminal && io.stderr.isTerminal;
  const isOutput = result === undefined && failure?.exit === 3 && global.json !== true && !isSeenTwice;

  if (global.json === true) writeJson(io, result, failure);
  else writeLines(io.stdout, isOutput ? formatBlocked(failure, view) : (result?.text ?? []));
  if (failure !== undefined) {
    const errorView = { ...view, style: createStyle(io.stderr, io.env, global) };
    writeLines(io.stderr, formatFailure(failure, errorView, { details: result === undefined && !isOutput }));
  }
  return failure?.exit ?? result?.exit ?? 0;
}

function writeLines(stream: OutputStream, lines: readonly string[]): void {
  if (lines.length > 0) stream.write(`${lines.join('\n')}\n`);
}

/** One document: the answer, the error, or, where a refusal comes with what blocks it, both in one. */
function writeJson({ stdout }: Io, result: Result | undefined, failure: Failure | undefined): void {
  const error = failure === undefined ? {} : { error: failureJson(failure) };
  const document = failure === undefined ? result?.json : { ...error, ...((result?.json ?? {}) as object) };
  if (document !== undefined)
    stdout.write(`${JSON.stringify(document, undefined, stdout.isTerminal ? 2 : undefined)}\n`);
}

/** Commander's own complaint, as one of ours. */
function fromCommander(error: CommanderError, program: Command, argv: readonly string[]): RollcallError {
  const hint = `See \`${innermostCommand(program, argv)} --help\`.`;
  if (error.code === 'commander.help') return usageError('a verb is missing', hint);
  const reason = error.message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');
  const homes = homesOf(/^unknown command '([^']+)'/.exec(reason)?.[1], program, argv);
  return usageError(reason, homes === undefined ? hint : `Is it ${homes}? ${hint}`);
}

/** The same words; throws `usage` where one of them is no command: help of something else would pass for its own. */
function knownWords(program: Command, words: readonly string[]): readonly string[] {
  let command = program;
  for (const word of words.filter((each) => !each.startsWith('-'))) {
    if (command.commands.length === 0) break;
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined)
      throw usageError(`unknown command '${word}'`, `See \`${innermostCommand(program, words)} --help\`.`);
    command = next;
  }
  return words;
}

/** Of `status`, typed alone: which nouns have a verb of that name, if a person can read them all. */
function homesOf(word: string | undefined, program: Command, argv: readonly string[]): string | undefined {
  if (word === undefined || innermostCommand(program, argv) !== program.name()) return undefined;
  const homes = program.commands.filter(({ commands }) => commands.some((each) => each.name() === word));
  if (homes.length === 0 || homes.length > 3) return undefined;
  return homes.map((noun) => `\`${program.name()} ${noun.name()} ${word}\``).join(' or ');
}

/** As much of what was typed as names a command. */
function innermostCommand(program: Command, argv: readonly string[]): string {
  const path = [program.name()];
  let command: Command | undefined = program;
  for (const word of argv) {
    const next: Command | undefined = command.commands.find((each) => each.name() === word);
    if (next === undefined) continue;
    path.push(word);
    command = next;
  }
  return path.join(' ');
}
