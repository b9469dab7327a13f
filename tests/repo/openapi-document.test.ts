import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApi, nothing, type Route, routes } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { root } from './source-tree.ts';

const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8')) as Described;
const hubRoutes = Object.entries(routes as Readonly<Record<string, Route>>).filter(
  ([, { listener }]) => listener !== 'agent',
);

describe('docs/openapi.json', () => {
  it('is what the table of routes says (else: npm run docs)', () => {
    expect(document).toEqual(asJson(createOpenApi()));
  });

  it('has every route of the hub, and none besides', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
    );
    const registered = hubRoutes.map(
      ([name, { method, path }]) => `${name} ${method.toLowerCase()} ${path.replaceAll(/:([a-z]+)/g, '{$1}')}`,
    );
    expect(described.toSorted()).toEqual(registered.toSorted());
    expect(described).toContain('openApi get /v1/openapi.json');
  });

  it.each(hubRoutes)('%s takes a body and a credential where the table says so', (name, { auth, body }) => {
    const operation = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .find(({ operationId }) => operationId === name);
    expect(operation?.requestBody !== undefined).toBe(body !== nothing);
    const isFree = ['open', 'public', 'self-proving'].includes(auth);
    expect(operation?.security).toHaveLength(isFree ? 0 : auth === 'host' ? 1 : 2);
  });

  it('is plain JSON schema: no word of ours is left, and every reference leads somewhere', () => {
    const nodes = [...walk(document)];
    expect(nodes.filter(({ kind, type }) => typeof kind === 'string' || type === 'undefined')).toEqual([]);
    const references = nodes.flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []));
    expect(references.length).toBeGreaterThan(10);
    const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect([...new Set(references)].filter((reference) => !names.includes(reference))).toEqual([]);
  });

  it('would tell a route that came, went or changed', () => {
    const { version, health } = routes;
    const page = asJson(createOpenApi({ version }));
    expect(Object.keys((page as Described).paths)).toEqual(['/version']);
    expect(asJson(createOpenApi({ version, health }))).not.toEqual(page);
    expect(asJson(createOpenApi({ version: { ...version, summary: 'Another' } }))).not.toEqual(page);
  });
});

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly requestBody?: unknown;
}

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function* walk(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Readonly<Record<string, unknown>>;
  for (const item of Object.values(value)) yield* walk(item);
}
