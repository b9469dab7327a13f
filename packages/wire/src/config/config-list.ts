/** Lists of mappings in a configuration file: each item read by a table of its own, refused by line as any other key is. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { ConfigKind } from './config-kinds.ts';

export interface ItemKey<Value = unknown> {
  readonly key: string;
  readonly kind: ConfigKind<Value>;
  readonly about: string;
  /** As it would stand in a file. */
  readonly example: string;
  readonly isRequired?: true;
  /** Does not go together with another row: in an example file it stands as a comment. */
  readonly isAlternative?: true;
}

export type ItemTable = Readonly<Record<string, ItemKey>>;

type RequiredNames<Table extends ItemTable> = {
  [Name in keyof Table]: Table[Name] extends { readonly isRequired: true } ? Name : never;
}[keyof Table];
type ValueOf<Row> = Row extends ItemKey<infer Value> ? Value : never;

/** What was given of one item, by the names of its table. */
export type ItemOf<Table extends ItemTable> = {
  readonly [Name in RequiredNames<Table>]: ValueOf<Table[Name]>;
} & { readonly [Name in Exclude<keyof Table, RequiredNames<Table>>]?: ValueOf<Table[Name]> };

export interface ItemProblem {
  readonly index: number;
  /** Of the row in the table. */
  readonly name: string;
  readonly problem: string;
}

/** Says at which node, under which key, what is wrong. */
export type Report = (node: Node | null | undefined, key: string, problem: string) => void;

export interface ConfigList<Item> {
  readonly items: ItemTable;
  /** `undefined` when anything was reported. `suggest` says what is known instead of a key that is not. */
  readonly readItems: (
    node: Node | null,
    at: { readonly key: string; readonly report: Report; readonly suggest: Suggest },
  ) => readonly Item[] | undefined;
}

export type Suggest = (key: string, known: readonly string[]) => { readonly shown: string; readonly problem: string };

export function listOf<const Table extends ItemTable, Item>(
  items: Table,
  shape: {
    readonly maxItems: number;
    /** Of values of one item that contradict each other. */
    readonly problemsOf: (
      item: ItemOf<Table>,
    ) => readonly { readonly name: keyof Table & string; readonly problem: string }[];
    readonly build: (item: ItemOf<Table>) => Item;
    /** Of items that contradict each other. */
    readonly problemsOfAll: (items: readonly Item[]) => readonly ItemProblem[];
  },
): ConfigList<Item> {
  return {
    items,
    readItems: (node, { key, report, suggest }) => {
      let isWrong = false;
      const tell: Report = (...said) => {
        isWrong = true;
        report(...said);
      };
      if (!isSeq(node) || node.items.length > shape.maxItems) {
        tell(node, key, `must be a list of at most ${shape.maxItems} mappings, each begun with a dash`);
        return undefined;
      }
      const read = node.items.map((item) => readItem(items, item as Node | null, key, tell, suggest));
      const keyed = (index: number, name: string) =>
        [read[index]?.nodes.get(name), `${key}.${items[name]?.key}`] as const;
      for (const [index, { values }] of read.entries()) {
        const found = isWrong ? [] : shape.problemsOf(values as ItemOf<Table>);
        for (const { name, problem } of found) tell(...keyed(index, name), problem);
      }
      if (isWrong) return undefined;
      const built = read.map(({ values }) => shape.build(values as ItemOf<Table>));
      for (const { index, name, problem } of shape.problemsOfAll(built)) tell(...keyed(index, name), problem);
      return isWrong ? undefined : built;
    },
  };
}

interface ReadItem {
  readonly values: Readonly<Record<string, unknown>>;
  readonly nodes: ReadonlyMap<string, Node | null>;
}

function readItem(table: ItemTable, node: Node | null, key: string, report: Report, suggest: Suggest): ReadItem {
  const values = new Map<string, unknown>();
  const nodes = new Map<string, Node | null>();
  if (!isMap<Node, Node | null>(node)) {
    report(node, key, 'must be a list of mappings, each begun with a dash');
    return { values: {}, nodes };
  }
  for (const pair of node.items) {
    const text = isScalar(pair.key) ? String(pair.key.value) : '';
    const [name, row] = Object.entries(table).find(([, known]) => known.key === text) ?? [];
    if (name === undefined || row === undefined) {
      const { shown, problem } = suggest(
        text,
        Object.values(table).map((known) => known.key),
      );
      report(pair.key, `${key}.${shown}`, problem);
      continue;
    }
    const value = row.kind.parse(pair.value?.toJSON() as unknown);
    nodes.set(name, pair.value ?? pair.key);
    if (value === undefined) report(pair.value ?? pair.key, `${key}.${text}`, row.kind.accepts);
    values.set(name, value);
  }
  for (const [name, row] of Object.entries(table)) {
    if (row.isRequired === true && !values.has(name)) report(node, `${key}.${row.key}`, 'is missing');
  }
  return { values: Object.fromEntries(values), nodes };
}
