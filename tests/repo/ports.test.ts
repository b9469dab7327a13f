import { describe, expect, it } from 'vitest';
import { findBanned } from './banned-globals.ts';
import { isShipped, repositoryFiles } from './source-tree.ts';

describe('time, randomness, environment, files and network come through a port (design 2)', () => {
  const shipped = repositoryFiles().filter(({ path }) => isShipped(path) && !mayTouchTheWorld(path));

  it('looks at the packages', () => {
    expect(shipped.length).toBeGreaterThan(20);
  });

  it('holds in every shipped file but adapters and main.ts', () => {
    const found = shipped.flatMap(({ path, text }) =>
      findBanned(path, text).map(({ line, what }) => `${path}:${line}: ${what}`),
    );
    expect(found).toEqual([]);
  });

  it('makes no exception in core', () => {
    expect(mayTouchTheWorld('packages/core/src/adapters/clock.ts')).toBe(false);
    expect(mayTouchTheWorld('packages/core/src/main.ts')).toBe(false);
    expect(mayTouchTheWorld('packages/hub/src/adapters/clock.ts')).toBe(true);
    expect(mayTouchTheWorld('packages/hub/src/main.ts')).toBe(true);
    expect(mayTouchTheWorld('packages/hub/src/domain.ts')).toBe(false);
  });

  it.each([
    ['const t = Date.now();', 'Date.now'],
    ["const t = Date['now']();", 'Date.now'],
    ['const { now } = Date;', 'Date'],
    ['const t = new Date();', 'Date'],
    ['const t = Date();', 'Date'],
    ['const clock = { now: Date };', 'Date'],
    ['const t = performance.now();', 'performance.now'],
    ["import { performance } from 'node:perf_hooks';", 'node:perf_hooks'],
    ['const t = process.hrtime.bigint();', 'process.hrtime'],
    ['setTimeout(() => {}, 1);', 'setTimeout'],
    ['const later = setInterval;', 'setInterval'],
    ['setImmediate(() => {});', 'setImmediate'],
    ["import { setTimeout } from 'node:timers/promises';", 'node:timers/promises'],
    ['const n = Math.random();', 'Math.random'],
    ['const { random } = Math;', 'Math'],
    ["import { randomBytes } from 'node:crypto';", 'randomBytes'],
    ["import { randomUUID as id } from 'node:crypto';", 'randomUUID'],
    ["import * as c from 'node:crypto'; c.randomInt(9);", '*'],
    ["import c from 'node:crypto'; c['generateKeyPair']('ec');", 'default'],
    ["export * from 'node:crypto';", '*'],
    ["const { randomBytes } = await import('node:crypto');", '*'],
    ["const { randomBytes } = require('node:crypto');", 'require'],
    ["import { createRequire } from 'node:module';", 'node:module'],
    ["export { randomBytes } from 'node:crypto';", 'randomBytes'],
    ['crypto.getRandomValues(x);', 'crypto.getRandomValues'],
    ['const s = crypto.subtle;', 'crypto.subtle'],
    ["import { webcrypto } from 'node:crypto';", 'webcrypto'],
    ['const s = AbortSignal.timeout(5);', 'AbortSignal.timeout'],
    ['const p = process.env.PATH;', 'process.env'],
    ["const p = process['env'];", 'process.env'],
    ['const p = process[x];', 'process.<computed>'],
    ['const { env } = process;', 'process'],
    ["import { env } from 'node:process';", 'env'],
    ["const r = await fetch('http://x');", 'fetch'],
    ['const call = { fetch };', 'fetch'],
    ["globalThis['fet' + 'ch']();", 'globalThis.<computed>'],
    ["import { readFileSync } from 'node:fs';", 'node:fs'],
    ["import fs from 'fs';", 'fs'],
    ["export * from 'node:fs/promises';", 'node:fs/promises'],
    ["const fs = await import('node:fs/promises');", 'node:fs/promises'],
    ['class Clock { now() { return Date.now(); } }', 'Date.now'],
    ['const t = (Date as unknown as () => string)();', 'Date'],
    ['function f(at = Date.now()) { return at; }', 'Date.now'],
  ])('refuses %s', (text, what) => {
    expect(findBanned('bad.ts', text).map((violation) => violation.what)).toContain(what);
  });

  it.each([
    'const t = new Date(ms).toISOString();',
    'const t = Date.parse(text) + Date.UTC(2026, 1);',
    'const t = clock.now();',
    'const isDate = value instanceof Date;',
    'function f(fetch: Fetch, performance: number) { return fetch(performance); }',
    'interface Port { fetch(url: string): void; setTimeout(ms: number): void; readonly env: string }',
    'type T = typeof fetch | Date | ReturnType<typeof setTimeout>;',
    'const row = { Date: 1, fetch: 2, env: 3, subtle: true };',
    'const a = Math.max(1, 2); const p = process.pid; const v = process.versions.modules;',
    '// Date.now() and fetch("x")\nconst text = "Math.random()" + `process.env`;',
    "import { createHash, sign } from 'node:crypto'; createHash('sha256');",
    "import type { Stats } from 'node:fs';",
    'const s = AbortSignal.any([a, b]);',
    'const { publicKey } = port.generateKeyPair();',
  ])('lets pass %s', (text) => {
    expect(findBanned('good.ts', text)).toEqual([]);
  });
});

/** Adapters and composition roots, except in core, which has neither. */
function mayTouchTheWorld(path: string): boolean {
  return !path.startsWith('packages/core/') && (/\/src\/adapters\//.test(path) || /\/main\.tsx?$/.test(path));
}
