import { describe, expect, it } from 'vitest';
import { findBadImports, findUnusedDependencies } from './imports.ts';
import { isCode, type Manifest, manifests, readManifest, repositoryFiles } from './source-tree.ts';

describe('imports', () => {
  it('are declared, stay inside, and name exported doors', () => {
    const files = repositoryFiles().filter(({ path }) => isCode(path));
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap((file) => findBadImports(file, manifests()))).toEqual([]);
  });

  it('are the use of every declared dependency', () => {
    const unused = [...manifests()].map(([folder, manifest]) => [
      folder,
      findUnusedDependencies(folder, manifest, repositoryFiles()),
    ]);
    expect(unused.filter(([, names]) => names?.length !== 0)).toEqual([]);
    const hub: Manifest = { name: 'hub', dependencies: { pino: '1', fastify: '1' } };
    const onlyInTests = { path: 'packages/hub/src/a.test.ts', text: "import 'fastify';" };
    const shipped = { path: 'packages/hub/src/a.ts', text: "import 'pino';" };
    expect(findUnusedDependencies('packages/hub', hub, [shipped, onlyInTests])).toEqual(['fastify']);
  });

  it('core has no dependencies of any kind', () => {
    const core = readManifest('packages/core');
    expect({ ...core.dependencies, ...core.peerDependencies, ...core.optionalDependencies }).toEqual({});
  });
});

describe('the rule about imports', () => {
  const fake = new Map<string, Manifest>([
    ['', { name: 'workspace', devDependencies: { vitest: '1' } }],
    ['packages/core', { name: '@rollcall/core', exports: { './errors': {} } }],
    [
      'packages/hub',
      { name: '@rollcall/hub', dependencies: { '@rollcall/core': '1', fastify: '5' }, exports: { '.': {} } },
    ],
  ]);
  const bad = (path: string, specifier: string): readonly string[] =>
    findBadImports({ path, text: `import x from '${specifier}'; export { x };` }, fake);

  it.each([
    ['packages/core/src/a.ts', 'fastify'],
    ['packages/core/src/a.ts', 'node:fs'],
    ['packages/core/src/a.ts', 'node:net'],
    ['packages/core/src/a.ts', '@rollcall/core/errors'],
    ['packages/core/src/a.ts', '../../hub/src/index.ts'],
    ['packages/hub/src/a.ts', 'pino'],
    ['packages/hub/src/a.ts', 'vitest'],
    ['packages/hub/src/a.ts', 'crypto'],
    ['packages/hub/src/a.ts', '../package.json'],
    ['packages/hub/src/a.ts', './b'],
    ['packages/hub/src/a.ts', './b.js'],
    ['packages/hub/src/a.ts', '../dist/main.js'],
    ['packages/hub/bin/a.js', '../../core/dist/main.js'],
    ['packages/hub/bin/a.js', '../src/main.js'],
    ['packages/hub/src/a.ts', '@rollcall/core'],
    ['packages/hub/src/a.ts', '@rollcall/core/src/errors.ts'],
    ['packages/hub/src/a.ts', './b.test.ts'],
    ['packages/hub/src/a.ts', './b.fixture.ts'],
    ['packages/hub/src/a.test.ts', '@rollcall/agent'],
    ['tests/e2e/a.test.ts', 'fastify'],
    ['tests/e2e/a.test.ts', '../../packages/hub/src/index.ts'],
    ['bench/main.ts', '../tests/e2e/a.ts'],
  ])('refuses that %s imports %s', (path, specifier) => {
    expect(bad(path, specifier)).toHaveLength(1);
  });

  it.each([
    ['packages/core/src/a.ts', 'node:crypto'],
    ['packages/core/src/keys/a.ts', '../errors.ts'],
    ['packages/core/src/a.test.ts', 'vitest'],
    ['packages/hub/src/a.test.ts', './b.fixture.ts'],
    ['packages/hub/bin/a.js', '../dist/main.js'],
    ['packages/hub/src/a.ts', 'fastify'],
    ['packages/hub/src/a.ts', 'fastify/types'],
    ['packages/hub/src/a.ts', '@rollcall/core/errors'],
    ['packages/hub/src/a.ts', 'node:net'],
    ['tests/e2e/a.test.ts', '@rollcall/hub'],
    ['bench/main.ts', 'vitest'],
  ])('lets %s import %s', (path, specifier) => {
    expect(bad(path, specifier)).toEqual([]);
  });

  it.each([
    "export * from 'pino';",
    "export { a } from 'pino';",
    "import type { A } from 'pino';",
    "const a = await import('pino');",
    "const a = require('pino');",
    "import 'pino';",
    'const a = await import(name);',
    "type A = import('pino').Logger;",
  ])('sees %s', (text) => {
    expect(findBadImports({ path: 'packages/hub/src/a.ts', text }, fake)).toHaveLength(1);
  });

  it('lets only a composition root compute what it imports', () => {
    const text = 'const load = (name: string) => import(name);';
    expect(findBadImports({ path: 'packages/hub/src/main.ts', text }, fake)).toEqual([]);
    expect(findBadImports({ path: 'packages/hub/src/domain.ts', text }, fake)).toHaveLength(1);
  });

  it('sees no import in a comment or a text', () => {
    const text = "// import 'pino'\nexport const a = \"import 'pino'\";\nexport const b = `from 'pino'`;";
    expect(findBadImports({ path: 'packages/hub/src/a.ts', text }, fake)).toEqual([]);
  });
});
