/** What there is to complete, read off the program itself, so that no script can know another command line than this one. */
import { rungs } from '@rollcall/core/rungs';
import type { Command, Option } from 'commander';

export interface Word {
  readonly name: string;
  readonly about: string;
}

/** What follows an option, or stands as an argument. */
export type Value =
  | { readonly kind: 'none' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' | 'directory' | 'anything' };

export interface CompletedOption extends Word {
  readonly value: Value;
}

export interface CompletedCommand {
  /** ` host add`: each word with a blank before it; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly CompletedOption[];
  /** Of the first argument; the others are names that only the hub knows. */
  readonly argument: Value;
}

/** The program first, then every noun and verb. */
export function commandTree(program: Command): readonly CompletedCommand[] {
  const everywhere = program.options.filter((option) => option.long !== '--version').map(describeOption);
  const walk = (command: Command, path: string): CompletedCommand[] => {
    const own = command.options.map(describeOption);
    const names = new Set(own.map(({ name }) => name));
    const [first] = command.registeredArguments;
    return [
      {
        path,
        commands: command.commands.map((each) => ({ name: each.name(), about: each.summary() })),
        options: [...own, ...everywhere.filter(({ name }) => !names.has(name)), help],
        argument: first === undefined ? { kind: 'none' } : kindOf(first.name()),
      },
      ...command.commands.flatMap((each) => walk(each, `${path} ${each.name()}`)),
    ];
  };
  return walk(program, '');
}

const help: CompletedOption = { name: '--help', about: 'show how a command is used', value: { kind: 'none' } };

function describeOption(option: Option): CompletedOption {
  const value = /[<[]([^>\].]+)/.exec(option.flags)?.[1];
  return {
    name: option.long ?? option.flags,
    about: option.description,
    value: option.argChoices === undefined ? kindOf(value) : { kind: 'words', words: option.argChoices },
  };
}

/** By the name that help shows: `file`, `dir`, or `on|off`. */
function kindOf(name: string | undefined): Value {
  if (name === undefined) return { kind: 'none' };
  if (name === 'rung') return { kind: 'words', words: rungs };
  if (name.includes('|')) return { kind: 'words', words: name.split('|') };
  return { kind: name === 'file' ? 'file' : name === 'dir' ? 'directory' : 'anything' };
}
