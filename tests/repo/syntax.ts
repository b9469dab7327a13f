/** A module's syntax tree, as much of it as the rules ask for. */
import { parseSync } from 'vite';

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Module {
  readonly program: Node;
  readonly comments: readonly { readonly value: string; readonly start: number; readonly end: number }[];
}

export function parseModule(path: string, text: string): Module {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  return { program: program as unknown as Node, comments };
}

/** Every specifier that the module names: imports, re-exports, dynamic imports, types, and `require` of a text. */
export function importedSpecifiers(program: Node): readonly string[] {
  const found: string[] = [];
  const look = (node: Node): void => {
    const source = node['source'] ?? requiredName(node);
    const isImport = /^(?:TSImportType|(?:Import|Export)\w*(?:Declaration|Expression)|CallExpression)$/.test(node.type);
    if (isImport && isNode(source)) found.push(typeof source['value'] === 'string' ? source['value'] : '<computed>');
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) look(child);
    }
  };
  look(program);
  return found;
}

/** Calls `see` for each node of code with its parents, nearest last. Types are skipped. */
export function visit(
  node: Node,
  see: (node: Node, parents: readonly Node[]) => void,
  parents: readonly Node[] = [],
): void {
  see(node, parents);
  for (const [field, value] of Object.entries(node)) {
    if (isTypeOnly(node, field)) continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child) && !TYPE_NODES.test(child.type)) visit(child, see, [...parents, node]);
    }
  }
}

/** The names that a module declares itself, anywhere: what they hide is no global. */
export function declaredNames(program: Node): ReadonlySet<string> {
  const names = new Set<string>();
  const declare = (pattern: unknown): void => {
    for (const part of Array.isArray(pattern) ? pattern : [pattern]) {
      if (!isNode(part)) continue;
      if (part.type === 'Identifier') names.add(String(part['name']));
      declare(
        part['elements'] ??
          part['properties'] ??
          part['argument'] ??
          part['left'] ??
          (part.type === 'Property' ? part['value'] : undefined),
      );
    }
  };
  visit(program, (node) => {
    if (/^(?:VariableDeclarator|FunctionDeclaration|ClassDeclaration)$/.test(node.type)) declare(node['id']);
    if (/^Import\w*Specifier$/.test(node.type)) declare(node['local']);
    if (/Function/.test(node.type)) declare(node['params']);
    if (node.type === 'CatchClause') declare(node['param']);
  });
  return names;
}

export function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

const TYPE_NODES =
  /^TS(?:Type(?:Annotation|Parameter\w*|AliasDeclaration)|InterfaceDeclaration|\w*Keyword|TypeReference|ImportType)$/;

function isTypeOnly(node: Node, field: string): boolean {
  return field === 'typeAnnotation' || (node.type === 'TSClassImplements' && field === 'expression');
}

function requiredName(node: Node): unknown {
  const callee = node['callee'];
  const isRequire = node.type === 'CallExpression' && isNode(callee) && callee['name'] === 'require';
  return isRequire ? (node['arguments'] as unknown[])[0] : undefined;
}
