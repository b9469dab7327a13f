/** No two texts are known whose digests are nearly the same, so here the hash is asked for them. */
import { type BinaryToTextEncoding, hash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { refusalOf } from '../refusal.fixture.ts';
import { createTokenVerifier } from './token.ts';

const chosen = new Map<string, string>();

vi.mock('node:crypto', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:crypto')>();
  return {
    ...original,
    hash: (algorithm: string, text: string, encoding: BinaryToTextEncoding) =>
      chosen.get(text) ?? original.hash(algorithm, text, encoding),
  };
});

const current = { version: 4, value: 'c'.repeat(30) };
const next = { version: 5, value: 'n'.repeat(30) };
const bits = Array.from({ length: 256 }, (_, bit) => bit);

test.each([current, next])(
  'a digest that differs from that of version $version in any one bit is refused',
  ({ value }) => {
    const verifier = createTokenVerifier({ current, next });
    const digest = Buffer.from(hash('sha256', value, 'binary'), 'binary');
    for (const bit of bits) {
      const near = Buffer.from(digest);
      near[bit >> 3] = (near[bit >> 3] as number) ^ (1 << (bit & 7));
      chosen.set(`near-${bit}`, near.toString('binary'));
    }
    chosen.set('same', digest.toString('binary'));
    for (const bit of bits)
      expect([bit, refusalOf(() => verifier.verify(`near-${bit}`))]).toEqual([bit, 'unauthenticated']);
    // The control: it is by the digest that it is decided.
    expect(verifier.verify('same').version).toBe(value === current.value ? 4 : 5);
  },
);

test('two values whose digests differ in one bit are two values', () => {
  const digest = Buffer.from(hash('sha256', current.value, 'binary'), 'binary');
  for (const bit of bits) {
    const near = Buffer.from(digest);
    near[bit >> 3] = (near[bit >> 3] as number) ^ (1 << (bit & 7));
    chosen.set(next.value, near.toString('binary'));
    expect(createTokenVerifier({ current, next }).verify(next.value).role).toBe('next');
  }
  chosen.set(next.value, digest.toString('binary'));
  expect(() => createTokenVerifier({ current, next })).toThrow(TypeError);
});
