/** A completion script for zsh; it runs nothing, and asks no hub. */
import type { CompletedCommand, Value, Word } from './command-tree.ts';

export function renderZsh(tree: readonly CompletedCommand[]): string {
  const paths = tree.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  return `#compdef rollcall
# Completion of rollcall for zsh: rollcall completion zsh > "\${fpath[1]}/_rollcall"
_rollcall() {
  local at="" word prev="\${words[CURRENT-1]}"
  local -a names
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${paths.join('|')}) at="$at $word" ;;
    esac
  done
  case "$at $prev" in
${tree.flatMap(renderValues).join('\n')}
  esac
  case "$at" in
${tree.map(renderCommand).join('\n')}
  esac
  _describe -t words rollcall names
}
if [[ "\${funcstack[1]}" == _rollcall ]]; then
  _rollcall "$@"
else
  compdef _rollcall rollcall
fi
`;
}

function renderValues({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ name, value }) => {
    const act = complete(value);
    return act === undefined ? [] : [`    (${quote(`${path} ${name}`)}) ${act}; return ;;`];
  });
}

function complete(value: Value): string | undefined {
  switch (value.kind) {
    case 'none':
      return undefined;
    case 'words':
      return `compadd -- ${value.words.join(' ')}`;
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    case 'anything':
      return ':';
  }
}

function renderCommand({ path, commands, options, argument }: CompletedCommand): string {
  const own = argument.kind === 'words' ? argument.words.map((name) => ({ name, about: '' })) : [];
  const names = [...own, ...commands, ...options].map(describe);
  const lines = [`    (${quote(path)})`, `      names=(${names.join(' ')})`];
  if (argument.kind === 'file') lines.push(`      [[ "\${words[CURRENT]}" == -* ]] || { _files; return; }`);
  return [...lines, '      ;;'].join('\n');
}

/** `name:about`, as `_describe` reads it. */
function describe({ name, about }: Word): string {
  const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll(':', '\\:');
  return quote(about === '' ? escaped(name) : `${escaped(name)}:${escaped(about)}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
