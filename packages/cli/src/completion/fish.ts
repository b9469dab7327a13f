/** A completion script for fish; it runs nothing, and asks no hub. */
import type { CompletedCommand, CompletedOption, Value } from './command-tree.ts';

export function renderFish(tree: readonly CompletedCommand[]): string {
  const paths = tree.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  return `# Completion of rollcall for fish: rollcall completion fish > ~/.config/fish/completions/rollcall.fish
function __rollcall_at
    set -l at
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${paths.join(' ')}
                set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c rollcall -f
${tree.flatMap(renderCommand).join('\n')}
`;
}

function renderCommand({ path, commands, options, argument }: CompletedCommand): string[] {
  const here = `complete -c rollcall -n ${quote(`__rollcall_at ${quote(path)}`)}`;
  return [
    ...commands.map(({ name, about }) => `${here} -a ${name} -d ${quote(about)}`),
    ...(argument.kind === 'words' ? [`${here} -a ${quote(argument.words.join(' '))}`] : []),
    ...(argument.kind === 'file' ? [`${here} -F`] : []),
    ...options.map((option) => `${here} ${renderOption(option)}`),
  ];
}

function renderOption({ name, about, value }: CompletedOption): string {
  const after = followedBy(value);
  return `-l ${name.replace(/^--/, '')}${after === '' ? '' : ` ${after}`} -d ${quote(about)}`;
}

function followedBy(value: Value): string {
  switch (value.kind) {
    case 'none':
      return '';
    case 'words':
      return `-x -a ${quote(value.words.join(' '))}`;
    case 'file':
      return '-r -F';
    case 'directory':
      return "-x -a '(__fish_complete_directories)'";
    case 'anything':
      return '-x';
  }
}

/** In single quotes fish reads nothing but these two. */
function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
