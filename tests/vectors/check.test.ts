/** `check.mjs` needs nothing of ours, passes all vectors, and would notice any that is wrong. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, 'check.mjs');
const text = readFileSync(join(import.meta.dirname, 'rollcall-v1.json'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'rollcall-vectors-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('check.mjs', () => {
  it('imports nothing but Node itself', () => {
    const imports = [...readFileSync(script, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(
      ([, name]) => name,
    );
    expect(imports).toEqual(['node:crypto', 'node:fs', 'node:url']);
  });

  it('passes the vectors', () => {
    const { status, lines } = check([]);
    expect({ status, lines }).toEqual({ status: 0, lines: [expect.stringMatching(/: 28 vectors hold$/)] });
  });

  it('notices each single value that is changed', () => {
    const changed = [...leaves(JSON.parse(text))].filter(([path]) => path !== 'about');
    expect(changed.length).toBeGreaterThan(150);
    const files = changed.map(([path]) => {
      const file = join(folder, `${path}.json`);
      writeFileSync(file, JSON.stringify(withChanged(path)));
      return file;
    });
    const { status, lines } = check(files);
    expect(status).toBe(1);
    expect(lines).toHaveLength(files.length);
    expect(lines.filter((line) => !line.includes(': FAILS at '))).toEqual([]);
  });

  it('notices a section that is missing, and one that it does not know', () => {
    const { tokens: _tokens, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const [without, besides] = [join(folder, 'without'), join(folder, 'besides')];
    writeFileSync(without, JSON.stringify(rest));
    writeFileSync(besides, JSON.stringify({ ...(JSON.parse(text) as object), more: {} }));
    expect(check([without, besides])).toEqual({
      status: 1,
      lines: [`${without}: FAILS at section tokens`, `${besides}: FAILS at section more`],
    });
  });
});

function check(files: readonly string[]): { status: number | null; lines: readonly string[] } {
  const { status, stdout } = spawnSync(process.execPath, [script, ...files], { encoding: 'utf8', cwd: folder });
  return { status, lines: stdout.trimEnd().split('\n') };
}

/** Every text and number, by its path. */
function* leaves(value: unknown, path = ''): Generator<readonly [path: string, value: string | number]> {
  if (typeof value === 'string' || typeof value === 'number') yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) yield* leaves(item, path === '' ? name : `${path}.${name}`);
}

function withChanged(path: string): unknown {
  const vectors = JSON.parse(text) as Record<string, unknown>;
  const names = path.split('.');
  const last = names.pop() as string;
  const parent = names.reduce((value, name) => value[name] as Record<string, unknown>, vectors);
  parent[last] = changedValue(parent[last] as string | number);
  return vectors;
}

/** Of the same form, and another. */
function changedValue(value: string | number): string | number {
  if (typeof value === 'number') return value + 1;
  const at = Math.floor(value.length / 2);
  const other = /[0-9]/.test(value.charAt(at))
    ? (Number(value.charAt(at)) + 1) % 10
    : value.charAt(at) === 'a'
      ? 'b'
      : 'a';
  return `${value.slice(0, at)}${other}${value.slice(at + 1)}`;
}
