/** Example files, made from the tables that read them, so that no key is missing from one and none is made up. */
import { type ConfigKey, type ConfigTable, environmentName } from './config-file.ts';
import type { ItemTable } from './config-list.ts';

export interface ExampleOptions<Name extends string> {
  /** What the file is for, and the command that reads it. */
  readonly title: readonly string[];
  /** Rows that stand there in force; the others are comments. */
  readonly inForce: readonly Name[];
}

/** YAML with every key of the table, in its order. */
export function renderConfigExample<Table extends ConfigTable>(
  table: Table,
  { title, inForce }: ExampleOptions<keyof Table & string>,
): string {
  const head = [
    ...title,
    'A flag overrides the environment, and the environment overrides this file. A key that is not known is refused.',
  ];
  const rows = Object.entries(table).map(([name, row]) => renderRow(row, inForce.includes(name)));
  return `${[head.map(comment).join('\n'), ...rows].join('\n\n')}\n`;
}

function renderRow(row: ConfigKey, isInForce: boolean): string {
  const live = row.isLive ? ' Taken anew on SIGHUP.' : '';
  const about = comment(`${row.about}${live} Also ${environmentName(row.key)}.`);
  if ('items' in row.kind) return [about, ...listExample(row.key, row.kind.items).map((line) => `#${line}`)].join('\n');
  const [section = '', ...below] = row.key.split('.');
  const lines =
    below.length === 0 ? [`${section}: ${row.example}`] : [`${section}:`, `  ${below.join('.')}: ${row.example}`];
  return [about, ...lines.map((line) => (isInForce ? line : `#${line}`))].join('\n');
}

function listExample(key: string, items: ItemTable): readonly string[] {
  const rows = Object.values(items).map(({ key: name, example, about, isAlternative }, index) => {
    const indent = index === 0 ? '  - ' : '    ';
    return `${indent}${isAlternative === true ? '# ' : ''}${name}: ${example}  # ${about}`;
  });
  return [`${key}:`, ...rows];
}

function comment(text: string): string {
  return `# ${text}`;
}

export const hubExampleOptions = {
  title: ['The configuration of a hub: rollcall hub start --config FILE'],
  inForce: ['dir', 'kekFile', 'listen'],
} as const;

export const agentExampleOptions = {
  title: ['The configuration of an agent: rollcall agent start --config FILE'],
  inForce: ['stateDir', 'enrol'],
} as const;
