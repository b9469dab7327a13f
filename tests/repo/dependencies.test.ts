import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Manifest, manifests, root } from './source-tree.ts';

const text = readFileSync(join(root, 'docs/decisions/dependencies.md'), 'utf8');

it('docs/decisions/dependencies.md names every declared dependency with a reason, and no other', () => {
  expect(compare(text, [...manifests().values()])).toEqual({ unnamed: [], undeclared: [], withoutReason: [] });
});

it('would tell a dependency that came or went, or has no reason', () => {
  const table =
    '| package | reason |\n|---|---|\n| `fastify` | the server that validates before it parses |\n| `gone` | once needed for something |\n| `kysely` | |\n';
  const hub: Manifest = { name: 'hub', dependencies: { fastify: '5', core: '1' }, peerDependencies: { pino: '1' } };
  const dev: Manifest = { name: 'core', devDependencies: { kysely: '1' } };
  expect(compare(table, [hub, dev])).toEqual({ unnamed: ['pino'], undeclared: ['gone'], withoutReason: ['kysely'] });
});

interface Comparison {
  readonly unnamed: readonly string[];
  readonly undeclared: readonly string[];
  readonly withoutReason: readonly string[];
}

/** Rows are `| \`name\` | … | reason |`. */
function compare(table: string, all: readonly Manifest[]): Comparison {
  const own = new Set(all.map(({ name }) => name));
  const declared = new Set(
    all
      .flatMap((manifest) => [
        manifest.dependencies,
        manifest.devDependencies,
        manifest.peerDependencies,
        manifest.optionalDependencies,
      ])
      .flatMap((list) => Object.keys(list ?? {}))
      .filter((name) => !own.has(name)),
  );
  const named = new Map(
    [...table.matchAll(/^\| `([^`]+)` \|(?:.*\|)?([^|]*)\|$/gm)].map(([, name = '', reason = '']) => [
      name,
      reason.trim(),
    ]),
  );
  return {
    unnamed: [...declared].filter((name) => !named.has(name)).sort(),
    undeclared: [...named.keys()].filter((name) => !declared.has(name)).sort(),
    withoutReason: [...named].filter(([, reason]) => reason.length < 20).map(([name]) => name),
  };
}
