/** docs/INVARIANTS.md names files, functions and tests: each is there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './source-tree.ts';

const page = readFileSync(join(root, 'docs/INVARIANTS.md'), 'utf8');
const sections = readSections(page);

describe('docs/INVARIANTS.md', () => {
  it('has the fourteen, in order', () => {
    expect(sections.map(({ id }) => id)).toEqual(Array.from({ length: 14 }, (_, index) => `I${index + 1}`));
  });

  it.each(sections)('$id says where it is enforced and what shows it, and all of that exists', (section) => {
    expect(section.enforced.length).toBeGreaterThan(0);
    expect(section.shown.length).toBeGreaterThan(0);
    expect(section.shown.every(({ names }) => names.length > 0)).toBe(true);
    expect([...section.enforced, ...section.shown].flatMap(findMissing)).toEqual([]);
  });
});

describe('the check', () => {
  const read = (line: string): readonly string[] =>
    readSections(`## I1 · x\n\nEnforced in:\n\n${line}\n\nShown by:\n\n${line}\n`).flatMap(({ enforced, shown }) =>
      [...enforced, ...shown].flatMap(findMissing),
    );

  it.each([
    ['a file', '- `packages/core/src/nowhere.ts`: `x`'],
    ['a function', '- `packages/core/src/bytes.ts`: `utf9`'],
    ['part of a name', '- `packages/core/src/bytes.ts`: `encodeHe`'],
    ['a test', '- `packages/core/src/bytes.test.ts`: "is a test that nobody wrote"'],
  ])('would miss %s that is not there', (_what, line) => {
    expect(read(line)).not.toEqual([]);
  });

  it('passes what is there', () => {
    expect(read('- `packages/core/src/bytes.ts`: `utf8`, `encodeHex` (both)')).toEqual([]);
    expect(read('- `tests/repo/invariants-document.test.ts`: "has the fourteen, in order", "the check"')).toEqual([]);
  });

  it('refuses a line that names nothing', () => {
    expect(() => read('- packages/core/src/bytes.ts')).toThrow();
  });
});

interface Named {
  readonly file: string;
  /** Functions, or titles of tests. */
  readonly names: readonly string[];
  readonly are: 'functions' | 'titles';
}

interface Section {
  readonly id: string;
  readonly enforced: readonly Named[];
  readonly shown: readonly Named[];
}

function readSections(text: string): readonly Section[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [, id = ''] = /^(I\d+) ·/.exec(section) ?? [];
      const [, enforced = '', shown = ''] = /Enforced in:\n([\s\S]*?)Shown by:\n([\s\S]*)/.exec(section) ?? [];
      return { id, enforced: readList(enforced, 'functions'), shown: readList(shown, 'titles') };
    });
}

/** An item may go on over several lines. */
function readList(text: string, are: Named['are']): readonly Named[] {
  return text
    .split(/^- /m)
    .slice(1)
    .map((item) => {
      const [, file = '', rest = ''] = /^`([^`]+)`: (.+)/.exec(item.replaceAll(/\s+/g, ' ')) ?? [];
      if (file === '') throw new Error(`names nothing: ${item}`);
      const quoted = [...rest.matchAll(/`([^`]+)`|"([^"]+)"/g)].map(([, name, title]) => name ?? title ?? '');
      return { file, names: quoted, are };
    });
}

function findMissing({ file, names, are }: Named): readonly string[] {
  if (!existsSync(join(root, file))) return [file];
  const text = readFileSync(join(root, file), 'utf8');
  const isThere = (name: string): boolean =>
    are === 'titles' && name.includes(' ') ? text.includes(name) : new RegExp(`\\b${name}\\b`).test(text);
  return names.filter((name) => !isThere(name)).map((name) => `${file}: ${name}`);
}
