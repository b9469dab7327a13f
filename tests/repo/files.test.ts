import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { codeLines, largeFiles, testLines } from './large-files.ts';
import { isCode, isTest, manifests, repositoryFiles, root, type SourceFile } from './source-tree.ts';
import { findUnrunTests } from './tests-run.ts';

const files = repositoryFiles();

describe('file sizes (design 10)', () => {
  it('stay below the bound, or have a reason', () => {
    expect(findTooLong(files, largeFiles)).toEqual([]);
  });

  it('have no reason that is not needed any more', () => {
    const needed = findTooLong(files, {});
    expect(Object.keys(largeFiles).filter((path) => !needed.includes(path))).toEqual([]);
    expect(Object.values(largeFiles).filter((reason) => reason.length < 20)).toEqual([]);
  });

  it('are counted', () => {
    const lines = (count: number): string => 'x;\n'.repeat(count);
    const tooLong = (path: string, count: number): readonly string[] => findTooLong([{ path, text: lines(count) }], {});
    expect(tooLong('packages/a/src/a.ts', codeLines + 1)).toEqual(['packages/a/src/a.ts']);
    expect(tooLong('packages/a/src/a.ts', codeLines)).toEqual([]);
    expect(tooLong('scripts/a.mjs', codeLines + 1)).toHaveLength(1);
    expect(tooLong('packages/a/src/a.test.ts', codeLines + 1)).toEqual([]);
    expect(tooLong('packages/a/src/a.test.ts', testLines + 1)).toHaveLength(1);
    expect(tooLong('docs/a.md', 9_999)).toEqual([]);
    expect(findTooLong([{ path: 'a.ts', text: lines(codeLines + 1) }], { 'a.ts': 'one table' })).toEqual([]);
  });
});

describe('licence and version', () => {
  const all = [...manifests()];

  it('is Apache-2.0, in full and in every manifest', () => {
    const text = readFileSync(join(root, 'LICENSE'), 'utf8');
    expect(text).toMatch(/^\s+Apache License\n\s+Version 2\.0, January 2004\n/);
    expect(text).toContain('END OF TERMS AND CONDITIONS');
    expect(all.filter(([, { license }]) => license !== 'Apache-2.0').map(([folder]) => folder)).toEqual([]);
  });

  it('is one version everywhere: in the source, in every manifest, and where one package names another', () => {
    const names = new Set(all.map(([, { name }]) => name));
    const claims = all.flatMap(([folder, manifest]) => [
      [folder, manifest.version],
      ...Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies }).filter(([name]) => names.has(name)),
    ]);
    expect(manifests().get('')?.version).toBe(version);
    expect(claims.length).toBeGreaterThan(all.length);
    expect(claims.filter(([, claimed]) => claimed !== version)).toEqual([]);
  });
});

describe('committed text', () => {
  it('names no path of the machine that it was written on', () => {
    expect(files.flatMap(findMachinePaths)).toEqual([]);
  });

  it.each([
    ['"', ['', 'work', 'main'].join('/'), '"'],
    ['see ', ['', 'work', 'shared', 'design'].join('/'), ''],
    ['', ['', 'tmp', 'contracts.md'].join('/'), ''],
    ['cd ', ['', 'work'].join('/'), ''],
    ['the ', `.${'library'}`, '/search'],
    ['', ['file:', '', '', 'work', 'x'].join('/'), ''],
  ])('would be caught: %s%s%s', (...parts) => {
    expect(findMachinePaths({ path: 'a.md', text: parts.join('') })).toHaveLength(1);
  });

  it.each([
    '../shared/vectors',
    'https://example.com/work/x',
    'how it works/fails',
    'net/work',
    '/worker/x',
    '--file /root/secret',
  ])('lets pass: %s', (text) => {
    expect(findMachinePaths({ path: 'a.md', text })).toEqual([]);
  });
});

describe('tests', () => {
  it('are neither focused nor skipped without a reason', () => {
    const found = files
      .filter(({ path }) => isCode(path) && isTest(path))
      .flatMap(({ path, text }) => findUnrunTests(path, text));
    expect(found).toEqual([]);
  });

  it.each([
    "it.only('x', () => {});",
    "describe.only('x', () => {});",
    "it.only.each([1])('x', () => {});",
    "it.concurrent.only('x', () => {});",
    "it.todo('x');",
    "it.skip('x', () => {});",
    "describe.skipIf(true)('x', () => {});",
    "// Skipped\nit.skip('x', () => {});",
    "// Skipped where there is no such program: nothing to compare with.\n\nit.skip('x', () => {});",
    "// Skipped where there is no such program: nothing to compare with.\nit.only('x', () => {});",
  ])('would be caught: %s', (text) => {
    expect(findUnrunTests('a.test.ts', text)).toHaveLength(1);
  });

  it.each([
    "// Skipped where there is no such program: nothing to compare with.\nit.skip('x', () => {});",
    "describe.skipIf(x)('x', () => {}); // Skipped where there is no such program.",
    "it('skip and only', () => {});",
    'const rows = list.only(x).skip(2);',
  ])('lets pass: %s', (text) => {
    expect(findUnrunTests('a.test.ts', text)).toEqual([]);
  });
});

describe('what people look for first', () => {
  it.each(['LICENSE', 'SECURITY.md', 'CHANGELOG.md', 'docs/ARCHITECTURE.md', 'docs/decisions/dependencies.md'])(
    'has %s',
    (path) => {
      expect(existsSync(join(root, path))).toBe(true);
    },
  );
});

function findTooLong(all: readonly SourceFile[], reasons: Readonly<Record<string, string>>): readonly string[] {
  return all
    .filter(({ path }) => isCode(path) && !Object.hasOwn(reasons, path))
    .filter(({ path, text }) => text.split('\n').length - 1 > (isTest(path) ? testLines : codeLines))
    .map(({ path }) => path);
}

function findMachinePaths({ path, text }: SourceFile): readonly string[] {
  const folders = ['work', 'tmp/contracts', 'tmp/bash_jobs'].join('|');
  const pattern = new RegExp(`(?:^|[\\s"'\`(=:,]|file://)/(?:${folders})(?:/|\\.|$)|[.]library\\b|[.]mirror/`, 'm');
  return pattern.test(text) ? [path] : [];
}
