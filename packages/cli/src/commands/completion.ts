/** `rollcall completion`: a script for a shell, made from the program that is completed. */
import type { Command } from 'commander';
import { renderBash } from '../completion/bash.ts';
import { commandTree } from '../completion/command-tree.ts';
import { renderFish } from '../completion/fish.ts';
import { renderZsh } from '../completion/zsh.ts';
import { usageError } from '../usage-error.ts';
import { defineVerb, type Verb } from '../verb.ts';

const renderers = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const;

export function createCompletionVerb(program: () => Command): Verb {
  return defineVerb({
    usage: 'completion <bash|zsh|fish>',
    summary: 'Print a script that completes rollcall in a shell',
    examples: [
      'source <(rollcall completion bash)       (in ~/.bashrc)',
      `rollcall completion zsh > "\${fpath[1]}/_rollcall"`,
      'rollcall completion fish > ~/.config/fish/completions/rollcall.fish',
    ],
    run: async (_context, [shell = '']) => {
      if (!Object.hasOwn(renderers, shell)) throw usageError('say bash, zsh or fish', 'rollcall completion bash');
      const script = renderers[shell as keyof typeof renderers](commandTree(program()));
      return { json: { shell, script }, text: [script.trimEnd()] };
    },
  });
}
