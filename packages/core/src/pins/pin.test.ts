import { expect, it } from 'vitest';
import { refusalOf } from '../refusal.fixture.ts';
import { A, B, pinned, unpinned, unreadable } from './held.fixture.ts';
import { livePendings, parseFingerprint } from './pin.ts';

it.each<[string, unknown]>([
  ['one in an array', [A]],
  ['what only prints as one', { toString: () => A }],
  ['null', null],
  ['undefined', undefined],
  ['a longer one', `${A}a`],
  ['one behind a line', `\n${A}`],
  ['no hex', 'g'.repeat(64)],
])('a fingerprint is 64 digits of a text, not %s', (_what, value) => {
  expect(refusalOf(() => parseFingerprint(value))).toBe('malformed_fingerprint');
  expect(parseFingerprint(A)).toBe(A);
});

it('only what challenges the pin that stands is pending', () => {
  const pendings = [
    { fingerprint: B, challenges: A },
    { fingerprint: A, challenges: B },
  ];
  expect(livePendings({ ...pinned(A), pendings })).toEqual([pendings[0]]);
  expect(livePendings({ ...unpinned, pendings })).toEqual([]);
  expect(livePendings({ ...unreadable, pendings })).toEqual([]);
});
