/**
 * Configuration files: one YAML file per program, every key written down in a table. What the table does not know, or
 * cannot take, is refused with file, line and the accepted form; all of it at once, so that one edit mends it (design 8).
 */
import { RollcallError } from '@rollcall/core/errors';
import { isMap, isScalar, LineCounter, type Node, type Pair } from 'yaml';
import type { ConfigKind } from './config-kinds.ts';
import type { ConfigList, Report } from './config-list.ts';
import { parsePlainYaml } from './plain-yaml.ts';

export interface ConfigKey<Value = unknown> {
  /** `beat`, or with a dot for one level below: `first_use.min_age`. */
  readonly key: string;
  readonly kind: ConfigKind<Value> | ConfigList<unknown>;
  /** Whether a running program takes a new value on SIGHUP. */
  readonly isLive: boolean;
  readonly about: string;
  /** As it would stand in a file; of a list, its items have theirs. */
  readonly example: string;
}

export type ConfigTable = Readonly<Record<string, ConfigKey>>;

/** The values of a table that were given, by the names of the table. */
export type ConfigOf<Table extends ConfigTable> = {
  readonly [Name in keyof Table]?: Table[Name] extends { readonly kind: ConfigKind<infer Value> }
    ? Value
    : Table[Name] extends { readonly kind: ConfigList<infer Item> }
      ? readonly Item[]
      : never;
};

export interface ConfigSource {
  /** Where the text comes from, for errors. */
  readonly file: string;
  readonly text: string;
}

/** Throws `config_invalid` with every problem, each `file:line: key: what is accepted`. */
export function readConfig<Table extends ConfigTable>(
  table: Table,
  source: ConfigSource | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): ConfigOf<Table> {
  const problems: string[] = [];
  const values = new Map<string, unknown>(source === undefined ? [] : readFile(table, source, problems));
  for (const [name, row] of Object.entries(table)) {
    const variable = environmentName(row.key);
    const text = environment[variable];
    if (text === undefined) continue;
    const value =
      'items' in row.kind
        ? readVariable(row.kind, { file: variable, text }, row.key, problems)
        : row.kind.parse(row.kind.isText ? text : fromText(text));
    if (value !== undefined) values.set(name, value);
    else if (!('items' in row.kind)) problems.push(`${variable}: ${row.kind.accepts}`);
  }
  if (problems.length > 0) throw new RollcallError('config_invalid', { problems });
  return Object.fromEntries(values) as ConfigOf<Table>;
}

/** `first_use.min_age` is `ROLLCALL_FIRST_USE_MIN_AGE`. */
export function environmentName(key: string): string {
  return `ROLLCALL_${key.replaceAll('.', '_').toUpperCase()}`;
}

/** A list in a variable is written as in a file, where it needs no lines: `[{ name: web, … }]`. */
function readVariable(
  kind: ConfigList<unknown>,
  source: ConfigSource,
  key: string,
  problems: string[],
): readonly unknown[] | undefined {
  const lines = new LineCounter();
  const document = parsePlainYaml(source, lines, problems);
  if (document === undefined) return undefined;
  return kind.readItems(document.contents, { key, report: reporter(source.file, lines, problems), suggest });
}

function reporter(file: string, lines: LineCounter, problems: string[]): Report {
  return (node, key, problem) =>
    problems.push(`${file}:${lines.linePos(node?.range?.[0] ?? 0).line}: ${key}: ${problem}`);
}

function* readFile(table: ConfigTable, { file, text }: ConfigSource, problems: string[]): Generator<[string, unknown]> {
  const lines = new LineCounter();
  const at = (node: { range?: readonly number[] | null | undefined } | null | undefined) =>
    `${file}:${lines.linePos(node?.range?.[0] ?? 0).line}`;
  const document = parsePlainYaml({ file, text }, lines, problems);
  if (document === undefined || document.contents === null) return;
  const byKey = new Map(Object.entries(table).map(([name, row]) => [row.key, { name, row }]));
  const sections = new Set([...byKey.keys()].filter((key) => key.includes('.')).map((key) => key.split('.')[0]));
  const seen = new Set<string>();

  function* walk(node: Node | null, prefix: string): Generator<[string, unknown]> {
    if (!isMap(node)) {
      problems.push(`${at(node)}: ${prefix === '' ? 'the file' : prefix.slice(0, -1)}: a mapping of keys to values`);
      return;
    }
    for (const pair of node.items) {
      const key = `${prefix}${isScalar(pair.key) ? String(pair.key.value) : ''}`;
      if (prefix === '' && sections.has(key)) yield* walk(pair.value as Node | null, `${key}.`);
      else yield* take(key, pair as Pair<Node, Node | null>);
    }
  }

  function* take(key: string, { key: keyNode, value }: Pair<Node, Node | null>): Generator<[string, unknown]> {
    const known = byKey.get(key);
    if (known === undefined) {
      const unknown = suggest(key, [...byKey.keys()]);
      problems.push(`${at(keyNode)}: ${unknown.shown}: ${unknown.problem}`);
      return;
    }
    // `first_use.min_age` beside `first_use: { min_age }` is no double key for YAML.
    if (seen.has(key)) problems.push(`${at(keyNode)}: ${key}: stands there twice`);
    seen.add(key);
    const { kind } = known.row;
    if ('items' in kind) {
      const items = kind.readItems(value ?? keyNode, { key, report: reporter(file, lines, problems), suggest });
      if (items !== undefined) yield [known.name, items];
      return;
    }
    const parsed = kind.parse(plain(value));
    if (parsed === undefined) problems.push(`${at(value ?? keyNode)}: ${key}: ${kind.accepts}`);
    else yield [known.name, parsed];
  }
  yield* walk(document.contents, '');
}

function plain(node: Node | null): unknown {
  return node?.toJSON() as unknown;
}

/** A variable has no types: whole numbers and the two booleans are read, anything else is a text. */
function fromText(text: string): unknown {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return text === 'true' || text === 'false' ? text === 'true' : text;
}

/** A key that is not known may be a secret that was put in the wrong place: only its beginning is shown. */
function shown(key: string): string {
  return /^[a-z_.]{1,40}$/.test(key) ? key : `${key.slice(0, 4)}…`;
}

function suggest(key: string, known: readonly string[]): { readonly shown: string; readonly problem: string } {
  const near = known.find(
    (candidate) => candidate.replaceAll(/[._]/g, '') === key.replaceAll(/[._-]/g, '').toLowerCase(),
  );
  const problem =
    near === undefined ? `unknown; known are ${[...known].sort().join(', ')}` : `unknown; did you mean ${near}?`;
  return { shown: shown(key), problem };
}
