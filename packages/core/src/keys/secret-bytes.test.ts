import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseHubRootFile } from './hub-trust.ts';
import { revealAs, SecretBytes } from './secret-bytes.ts';
import { parseTokenFile } from './secret-files.ts';
import { parseToken } from './token.ts';

const bytes = new Uint8Array(Buffer.from('correct horse battery staple 32b'));
const secret = new SecretBytes('master', bytes);

/** Every text that the bytes could show up as. */
const traces = [
  Buffer.from(bytes).toString('latin1'),
  Buffer.from(bytes).toString('hex'),
  Buffer.from(bytes).toString('base64'),
  Buffer.from(bytes).toString('base64url'),
  bytes.subarray(0, 4).join(', '),
  bytes.subarray(0, 4).join(','),
];

function expectNoTrace(text: string): void {
  for (const trace of traces) expect(text).not.toContain(trace);
}

describe('a secret does not show itself', () => {
  test.each<[string, () => string]>([
    ['a template string', () => `${secret}`],
    ['concatenation', () => `a${String(secret)}`],
    ['toString', () => secret.toString()],
    ['toLocaleString', () => secret.toLocaleString()],
    ['JSON.stringify', () => JSON.stringify({ secret })],
    ['inspect', () => inspect(secret)],
    ['inspect with everything shown', () => inspect({ a: [secret] }, { showHidden: true, depth: 9, getters: true })],
    ['inspect without custom forms', () => inspect(secret, { customInspect: false, showHidden: true, depth: 9 })],
    [
      'a structured clone',
      () => inspect(structuredClone(secret), { showHidden: true }) + JSON.stringify(structuredClone(secret)),
    ],
    [
      'own keys',
      () => JSON.stringify(Reflect.ownKeys(secret).map((key) => [String(key), String(Reflect.get(secret, key))])),
    ],
    ['a spread copy', () => inspect(Object.assign({}, secret)) + JSON.stringify(Object.assign({}, secret))],
    ['an error with it as cause', () => inspect(new Error('x', { cause: secret }))],
  ])('in %s', (_, show) => {
    expectNoTrace(show());
  });

  test('but its kind, wherever it is printed', () => {
    const shown = '[redacted master]';
    expect([`${secret}`, inspect(secret), secret.toJSON()]).toEqual([shown, shown, shown]);
    expect(JSON.stringify({ secret })).toBe(`{"secret":"${shown}"}`);
  });

  test('and the traces that are looked for would be found', () => {
    expect(() => expectNoTrace(Buffer.from(secret.reveal()).toString('hex'))).toThrow();
    expect(() => expectNoTrace(JSON.stringify([...secret.reveal()]))).toThrow();
  });
});

test('keeps and hands out copies', () => {
  const source = Uint8Array.of(1, 2, 3);
  const held = new SecretBytes('token', source);
  source.fill(0);
  held.reveal().fill(9);
  expect(held.reveal()).toEqual(Uint8Array.of(1, 2, 3));
  expect(held.length).toBe(3);
});

test('is revealed as its own kind only', () => {
  expect(revealAs('master', secret)).toEqual(bytes);
  expect(revealAs('master', bytes)).toBe(bytes);
  // @ts-expect-error another kind is refused by the compiler, and at run time
  expect(() => revealAs('token', secret)).toThrow(TypeError);
  // @ts-expect-error what only looks like a secret is refused too
  expect(() => revealAs('master', { kind: 'master', reveal: () => bytes })).toThrow(TypeError);
});

test.each<[string, () => unknown]>([
  ['token', () => parseToken('rch', 'rch_hunter2hunter2')],
  ['token file', () => parseTokenFile(Buffer.from('hunter2 hunter2'))],
  ['hub-root file', () => parseHubRootFile('{"root":"hunter2"}')],
])('a refused %s is not repeated in the error', (_, parse) => {
  let thrown: unknown;
  try {
    parse();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(Error);
  expect(inspect(thrown, { depth: 9, showHidden: true }).replace(/at .*\n?/g, '')).not.toContain('hunter2');
});
