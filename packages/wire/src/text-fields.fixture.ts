/** Walks a schema of the wire: which texts a message may carry, by their kind, and where it says nothing of its form. */

export interface TextField {
  /** `deliveries[].ct` */
  readonly at: string;
  /** `undefined`: a string that names no kind. `unknown`: anything fits. `literal`: only what stands in the schema. */
  readonly kind: string | undefined;
}

interface SchemaNode {
  readonly type?: string;
  readonly kind?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode | readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
}

/** Types that hold no text. */
const TEXTLESS: ReadonlySet<string> = new Set(['integer', 'number', 'boolean', 'null', 'undefined']);

export function textFields(schema: unknown, at = ''): readonly TextField[] {
  const node = schema as SchemaNode;
  if (node.const !== undefined || node.enum !== undefined) return [{ at, kind: 'literal' }];
  const branches = [node.anyOf, node.allOf, node.oneOf].flatMap((list) => list ?? []);
  if (branches.length > 0) return branches.flatMap((branch) => textFields(branch, at));
  if (node.type === 'string') return [{ at, kind: node.kind }];
  if (node.type === 'array') {
    const items = [node.items ?? {}].flat() as readonly SchemaNode[];
    return items.flatMap((item) => textFields(item, `${at}[]`));
  }
  if (node.type === 'object') return inObject(node, at);
  return TEXTLESS.has(node.type ?? '') ? [] : [{ at, kind: 'unknown' }];
}

function inObject(
  { properties, patternProperties, additionalProperties }: SchemaNode,
  at: string,
): readonly TextField[] {
  const named = Object.entries(properties ?? {}).flatMap(([name, child]) =>
    textFields(child, at === '' ? name : `${at}.${name}`),
  );
  const patterned = Object.values(patternProperties ?? {}).flatMap((child) => textFields(child, `${at}{}`));
  if (additionalProperties === true) return [...named, ...patterned, { at: `${at}{}`, kind: 'unknown' }];
  const others = typeof additionalProperties === 'object' ? textFields(additionalProperties, `${at}{}`) : [];
  return [...named, ...patterned, ...others];
}
