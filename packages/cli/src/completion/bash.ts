/** A completion script for bash 3.2 and later; it runs nothing, and asks no hub. */
import type { CompletedCommand, Value } from './command-tree.ts';

export function renderBash(tree: readonly CompletedCommand[]): string {
  return `# Completion of rollcall for bash: source <(rollcall completion bash)
_rollcall() {
  local cur prev at word words
  COMPREPLY=()
  cur="\${COMP_WORDS[COMP_CWORD]}"
  prev="\${COMP_WORDS[COMP_CWORD-1]}"
  at=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${paths(tree)}) at="$at $word" ;;
    esac
  done
  case "$at $prev" in
${values(tree)}
  esac
  case "$at" in
${tree.map(renderCommand).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _rollcall rollcall
`;
}

function paths(tree: readonly CompletedCommand[]): string {
  return tree
    .filter(({ path }) => path !== '')
    .map(({ path }) => `"${path}"`)
    .join('|');
}

/** After an option that takes a value, nothing but that. */
function values(tree: readonly CompletedCommand[]): string {
  return tree
    .flatMap(({ path, options }) =>
      options.flatMap(({ name, value }) => {
        const act = compgen(value);
        return act === undefined ? [] : [`    "${path} ${name}") ${act}; return ;;`];
      }),
    )
    .join('\n');
}

/** A name may have blanks in it, which readline is to escape. */
const BY_LINE = "compopt -o filenames 2>/dev/null; local IFS=$'\\n'";

function compgen(value: Value): string | undefined {
  switch (value.kind) {
    case 'none':
      return undefined;
    case 'words':
      return `COMPREPLY=($(compgen -W "${value.words.join(' ')}" -- "$cur"))`;
    case 'file':
      return `${BY_LINE}; COMPREPLY=($(compgen -f -- "$cur"))`;
    case 'directory':
      return `${BY_LINE}; COMPREPLY=($(compgen -d -- "$cur"))`;
    case 'anything':
      return ':';
  }
}

function renderCommand({ path, commands, options, argument }: CompletedCommand): string {
  const names = [...commands, ...options].map(({ name }) => name);
  const own = argument.kind === 'words' ? argument.words : [];
  const lines = [`    "${path}")`, `      words="${[...own, ...names].join(' ')}"`];
  if (argument.kind === 'file') lines.push(`      case "$cur" in -*) ;; *) ${compgen(argument)}; return ;; esac`);
  return [...lines, '      ;;'].join('\n');
}
