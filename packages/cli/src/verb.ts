/** One verb of the command line: what it is called, how it is explained, what it does. */

import type { RollcallError } from '@rollcall/core/errors';
import { type Command, Option } from 'commander';
import type { HubClient } from './client.ts';
import type { View } from './output/page.ts';
import type { Io } from './ports.ts';

/** Options that every verb takes (design 8). */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly hub?: string;
  readonly tokenFile?: string;
  readonly hubRootFile?: string;
  readonly color?: boolean;
  readonly quiet?: boolean;
}

export interface Context {
  readonly io: Io;
  readonly global: GlobalOptions;
  /** How standard output is looked at. */
  readonly view: View;
  readonly hub: (where?: { readonly dir?: string | undefined }) => HubClient;
  /** The hub's clock, from which durations count: this machine's over its socket, asked for over TCP. */
  readonly hubTimeMs: () => Promise<number>;
  /** A line on standard error about what goes on; nothing with --quiet. */
  readonly progress: (line: string) => void;
  /** Returns when the person, or --yes, said so; throws otherwise. */
  readonly confirm: (question: string, options: { readonly yes?: boolean }) => Promise<void>;
}

export interface Result {
  /** The one document of --json; `undefined` where the verb has written its output itself. */
  readonly json: unknown;
  /** Lines for a person. */
  readonly text: readonly string[];
  readonly exit?: number;
  /** Why the exit is 3, where there is a code for it. */
  readonly failure?: RollcallError;
}

export interface VerbOptions {
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
}

export interface Verb {
  /** `add <host>`, as commander reads it. */
  readonly usage: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly options: readonly VerbOptions[];
  readonly run: (context: Context, args: readonly string[], options: unknown) => Promise<Result>;
}

export interface Noun {
  readonly name: string;
  readonly summary: string;
  readonly verbs: readonly Verb[];
}

/** Ties the options that a verb declares to the type in which it receives them. */
export function defineVerb<Options = object>(
  verb: Omit<Verb, 'options' | 'run'> & {
    readonly options?: readonly VerbOptions[];
    readonly run: (context: Context, args: readonly string[], options: Options) => Promise<Result>;
  },
): Verb {
  return {
    ...verb,
    options: verb.options ?? [],
    run: (context, args, options) => verb.run(context, args, options as Options),
  };
}

/** For verbs that cannot be undone. */
export const yesOption: VerbOptions = { flags: '--yes', description: 'do not ask' };

/** Hangs the verb under its noun; `perform` is what happens when it is called. */
export function addVerb(
  parent: Command,
  verb: Verb,
  perform: (verb: Verb, args: readonly string[], options: unknown) => Promise<void>,
): Command {
  const command = parent.command(verb.usage).summary(verb.summary).description(`${verb.summary}.`);
  for (const { flags, description, choices, required } of verb.options) {
    const option = new Option(flags, required === true ? `${description} (required)` : description).makeOptionMandatory(
      required === true,
    );
    command.addOption(choices === undefined ? option : option.choices(choices));
  }
  command.addHelpText(
    'after',
    `\nExample${verb.examples.length === 1 ? '' : 's'}:\n${verb.examples.map((line) => `  ${line}`).join('\n')}`,
  );
  return command.action(async () => {
    await perform(verb, command.args, command.optsWithGlobals());
  });
}
