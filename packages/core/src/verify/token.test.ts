import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { refusalOf } from '../refusal.fixture.ts';
import { createTokenVerifier, type TokenSet } from './token.ts';

const value = (fill: string) => fill.repeat(30);
const current = { version: 4, value: value('c') };
const next = { version: 5, value: value('n') };
const retiring = { version: 3, value: value('r') };

test('says which version was presented, and in which role, and counts it', () => {
  const widening = createTokenVerifier({ current, next });
  const narrowing = createTokenVerifier({ current, retiring });
  expect(widening.verify(current.value)).toEqual({ version: 4, role: 'current' });
  expect(widening.verify(` ${next.value}\r\n`)).toEqual({ version: 5, role: 'next' });
  expect(narrowing.verify(retiring.value)).toEqual({ version: 3, role: 'retiring' });
  expect(narrowing.verify(retiring.value)).toEqual({ version: 3, role: 'retiring' });
  expect(widening.hits()).toEqual({ current: 1, next: 1, retiring: 0 });
  expect(narrowing.hits()).toEqual({ current: 0, next: 0, retiring: 2 });
});

test.each<[string, unknown]>([
  ['another token', value('x')],
  ['a token that is not live any more', retiring.value],
  ['a token with one character less', current.value.slice(1)],
  ['a token with one more', `${current.value}c`],
  ['both, one after the other', current.value + next.value],
  ['nothing', ''],
  ['white space', '  '],
  ['undefined', undefined],
  ['an array', [current.value]],
])('refuses %s, counts no hit, and goes on taking the right one', (_, presented) => {
  const verifier = createTokenVerifier({ current, next });
  expect(refusalOf(() => verifier.verify(presented as string))).toBe('unauthenticated');
  expect(verifier.hits()).toEqual({ current: 0, next: 0, retiring: 0 });
  expect(verifier.verify(current.value).role).toBe('current');
});

describe('is not made', () => {
  test.each<[string, unknown, string]>([
    ['without a current version', { next }, 'TypeError'],
    ['with an empty current value', { current: { version: 4, value: '' } }, 'weak_secret'],
    ['with a blank current value', { current: { version: 4, value: ' \n' } }, 'weak_secret'],
    [
      'with a blank one, though weak ones are allowed',
      { current: { version: 4, value: ' ' }, weak: true },
      'weak_secret',
    ],
    ['with an undefined current value', { current: { version: 4, value: undefined } }, 'weak_secret'],
    [
      'with an undefined one, though weak ones are allowed',
      { current: { version: 4, value: undefined }, weak: true },
      'weak_secret',
    ],
    ['with a short value', { current: { version: 4, value: 'c'.repeat(21) } }, 'weak_secret'],
    ['with a long value', { current: { version: 4, value: 'c'.repeat(513) } }, 'malformed_token'],
    ['with a value that has a space in it', { current: { version: 4, value: `${value('c')} c` } }, 'malformed_token'],
    ['of three versions (I14)', { current, next, retiring }, 'TypeError'],
    ['of one version twice', { current, next: { ...next, version: 4 } }, 'TypeError'],
    ['of two versions with one value', { current, next: { ...next, value: current.value } }, 'TypeError'],
  ])('%s', (_, set, code) => {
    expect(refusalOf(() => createTokenVerifier(set as TokenSet))).toBe(code);
  });

  test('but with 22 to 512 characters, or fewer where weak ones are allowed, it is', () => {
    const longest = 'c'.repeat(512);
    expect(createTokenVerifier({ current: { version: 1, value: longest } }).verify(longest).version).toBe(1);
    expect(createTokenVerifier({ current: { version: 1, value: 'c'.repeat(22) } }).verify('c'.repeat(22)).version).toBe(
      1,
    );
    expect(createTokenVerifier({ current: { version: 1, value: 'short' }, weak: true }).verify('short').version).toBe(
      1,
    );
  });
});

test('does not show its values', () => {
  const shown = inspect(createTokenVerifier({ current, next }), { depth: 9, showHidden: true });
  expect(shown).not.toContain(current.value);
});
