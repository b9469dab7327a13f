/**
 * What code outside an adapter may not reach for (design 2, "Ports"): time, randomness, the environment, files and the
 * network come through a port, else no simulator can drive the code that ships.
 */
import { declaredNames, isNode, lineAt, type Node, parseModule, visit } from './syntax.ts';

export interface Violation {
  readonly line: number;
  readonly what: string;
}

/** Modules whose whole purpose is one of those, or to get at them unseen. */
const BANNED_MODULES = /^(?:node:)?(?:fs|fs\/promises|timers|timers\/promises|perf_hooks|module)$/;

/** Of these, only what is named in an `import { … }` can be seen; so nothing else may be imported from them. */
const BY_NAME_ONLY = /^(?:node:)?(?:crypto|process)$/;
const BANNED_NAMES: ReadonlySet<string> = new Set([
  'default',
  'env',
  'generateKey',
  'generateKeyPair',
  'generateKeyPairSync',
  'generateKeySync',
  'getRandomValues',
  'hrtime',
  'randomBytes',
  'randomFill',
  'randomFillSync',
  'randomInt',
  'randomUUID',
  'randomUUIDv7',
  'subtle',
  'uptime',
  'webcrypto',
]);

/** Globals, each with the members that are harmless. Any other use is banned, the bare name included: it could be passed on. */
const GLOBALS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    setTimeout: new Set<string>(),
    setInterval: new Set<string>(),
    setImmediate: new Set<string>(),
    performance: new Set<string>(),
    crypto: new Set<string>(),
    fetch: new Set<string>(),
    WebSocket: new Set<string>(),
    require: new Set<string>(),
    globalThis: new Set<string>(),
    global: new Set<string>(),
    Date: new Set(['parse', 'UTC']),
    AbortSignal: new Set(['any', 'abort']),
  }),
);

/** Globals with a few members that are banned. */
const MEMBERS_OF: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    Math: new Set(['random']),
    process: new Set(['env', 'hrtime', 'uptime']),
  }),
);

export function findBanned(path: string, text: string): readonly Violation[] {
  const { program } = parseModule(path, text);
  const declared = declaredNames(program);
  const found: Violation[] = [];
  visit(program, (node, parents) => {
    for (const what of [...bannedImports(node), bannedGlobal(node, parents, declared)]) {
      if (what !== undefined) found.push({ line: lineAt(text, node.start), what });
    }
  });
  return found;
}

function bannedImports(node: Node): readonly string[] {
  const source = node['source'];
  if (!isNode(source) || [node['importKind'], node['exportKind']].includes('type')) return [];
  const specifier = String(source['value']);
  if (BANNED_MODULES.test(specifier)) return [specifier];
  if (!BY_NAME_ONLY.test(specifier)) return [];
  const specifiers = node['specifiers'];
  const names = Array.isArray(specifiers) ? specifiers.filter(isNode).map(importedName) : ['*'];
  return names.filter((name) => name === '*' || BANNED_NAMES.has(name));
}

/** The name in the other module; `*` for all of it. */
function importedName(specifier: Node): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default';
  const name = specifier[specifier.type === 'ExportSpecifier' ? 'local' : 'imported'];
  return isNode(name) ? String(name['name'] ?? name['value']) : '*';
}

function bannedGlobal(node: Node, parents: readonly Node[], declared: ReadonlySet<string>): string | undefined {
  if (node.type !== 'Identifier') return undefined;
  const name = String(node['name']);
  const parent = parents.at(-1);
  if (parent === undefined || declared.has(name) || isOnlyAName(node, parent)) return undefined;
  const member =
    parent.type === 'MemberExpression' && parent['object'] === node ? (memberName(parent) ?? '<computed>') : undefined;
  const label = member === undefined ? name : `${name}.${member}`;
  const harmful = MEMBERS_OF.get(name);
  if (harmful !== undefined && (member === undefined || member === '<computed>' || harmful.has(member))) return label;
  const harmless = GLOBALS.get(name);
  if (harmless === undefined || (member !== undefined && harmless.has(member))) return undefined;
  return name === 'Date' && isDateOfSomething(node, parent) ? undefined : label;
}

/** `new Date(ms)` and `x instanceof Date` ask no clock. */
function isDateOfSomething(node: Node, parent: Node): boolean {
  if (parent.type === 'BinaryExpression') return parent['operator'] === 'instanceof' && parent['right'] === node;
  return parent.type === 'NewExpression' && parent['callee'] === node && (parent['arguments'] as unknown[]).length > 0;
}

/** A property's or a method's own name is not a use of the global of that name. */
function isOnlyAName(node: Node, parent: Node): boolean {
  const isKey = parent['key'] === node && parent['computed'] !== true && parent['shorthand'] !== true;
  const isMember = parent.type === 'MemberExpression' && parent['property'] === node && parent['computed'] !== true;
  return isKey || isMember || /^(?:Import|Export)\w*Specifier$/.test(parent.type) || parent.type === 'LabeledStatement';
}

function memberName(node: Node): string | undefined {
  const property = node['property'];
  if (!isNode(property)) return undefined;
  if (node['computed'] === true) return typeof property['value'] === 'string' ? property['value'] : undefined;
  return String(property['name']);
}
