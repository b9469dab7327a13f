import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { encodeBase64url } from '../bytes.ts';
import { readWycheproof } from '../published-vectors.fixture.ts';
import { faultOf, refusalOf } from '../refusal.fixture.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { fingerprint, generateWrapKey, parseWrapPublicKey, restoreWrapKey, WrapPublicKey } from './wrap-key.ts';

const pair = generateWrapKey(seededRandom('wrap key'));
const raw = pair.public.bytes;
const text = encodeBase64url(raw);

test('a pair is restored from its private half alone', () => {
  for (const restored of [restoreWrapKey(pair.private), restoreWrapKey(pair.private.reveal())]) {
    expect(restored.public.bytes).toEqual(raw);
    expect(restored.private.reveal()).toEqual(pair.private.reveal());
  }
  expect(generateWrapKey(seededRandom('wrap key')).public.fingerprint).toBe(pair.public.fingerprint);
  expect(generateWrapKey(seededRandom('another')).public.fingerprint).not.toBe(pair.public.fingerprint);
});

test('a fingerprint is SHA-256(suite 0 bytes)', () => {
  const expected = createHash('sha256').update('x25519\0').update(raw).digest('hex');
  expect(pair.public.fingerprint).toBe(expected);
  expect(fingerprint('x25519', raw)).toBe(expected);
});

test('a published key is read raw and from base64url', () => {
  expect(parseWrapPublicKey({ suite: 'x25519', public: text }).bytes).toEqual(raw);
  expect(parseWrapPublicKey({ suite: 'x25519', public: raw }).bytes).toEqual(raw);
});

describe('refuses', () => {
  test.each<[string, { suite?: unknown; public?: unknown }]>([
    ['another suite', { suite: 'xwing', public: text }],
    ['an Ed25519 key by its name', { suite: 'ed25519', public: text }],
    ['no suite', { public: text }],
    ['no key', { suite: 'x25519' }],
    ['a number', { suite: 'x25519', public: 7 }],
    ['padding', { suite: 'x25519', public: `${text}=` }],
    ['white space', { suite: 'x25519', public: `${text} ` }],
    ['the other alphabet', { suite: 'x25519', public: `+${text.slice(1)}` }],
    ['a stray bit', { suite: 'x25519', public: `${text.slice(0, -1)}${String.fromCharCode(text.charCodeAt(42) + 1)}` }],
    ['a byte too few', { suite: 'x25519', public: encodeBase64url(raw.subarray(1)) }],
    ['a byte too many', { suite: 'x25519', public: encodeBase64url(new Uint8Array(33).fill(1)) }],
    ['hex', { suite: 'x25519', public: Buffer.from(raw).toString('hex') }],
    ['low order', { suite: 'x25519', public: encodeBase64url(new Uint8Array(32)) }],
    ['the top bit', { suite: 'x25519', public: raw.map((byte, index) => (index === 31 ? byte | 0x80 : byte)) }],
  ])('%s', (_, key) => {
    expect(refusalOf(() => parseWrapPublicKey(key))).toBe('malformed_key');
  });

  test('and says which part is at fault', () => {
    expect(faultOf(() => parseWrapPublicKey({ suite: 'xwing', public: text }))).toBe('suite');
    expect(faultOf(() => parseWrapPublicKey({ suite: 'x25519', public: 7 }))).toBe('public');
  });

  test('a short private key', () => {
    expect(refusalOf(() => restoreWrapKey(new Uint8Array(31)))).toBe('malformed_key');
  });
});

test('a checked key cannot be changed afterwards', () => {
  const source = new Uint8Array(raw);
  const key = new WrapPublicKey(source);
  source.fill(0);
  key.bytes.fill(0);
  expect(key.bytes).toEqual(raw);
});

test('a pair does not show its private half', () => {
  const shown = [inspect(pair, { depth: 9, showHidden: true }), JSON.stringify(pair), `${pair.private}`].join();
  for (const trace of ['hex', 'base64', 'base64url', 'latin1'] as const) {
    expect(shown).not.toContain(Buffer.from(pair.private.reveal()).toString(trace));
  }
  expect(shown).toContain('[redacted wrap-private]');
});

describe('Wycheproof, keys as JWK', () => {
  const groups = readWycheproof<{ public: { crv?: string; x?: string } }>('x25519_jwk_test.json');
  const refusedFor = ['NonCanonicalPublic', 'LowOrderPublic', 'SmallPublicKey', 'ZeroSharedSecret', 'InvalidPublic'];

  // Skipped where the published vectors are not beside the project: they are read there, never copied.
  test.skipIf(groups === undefined)('every public key is taken, or refused for a reason', () => {
    const counts = { taken: 0, refused: 0 };
    for (const { public: jwk, flags, comment, tcId } of groups?.flatMap(({ tests }) => tests) ?? []) {
      if (comment.includes('kty')) continue; // our form has a suite, and no such field
      const isRefused = flags.some((flag) => refusedFor.includes(flag));
      const verdict = refusalOf(() => parseWrapPublicKey({ suite: jwk.crv?.toLowerCase(), public: jwk.x }));
      expect(verdict, `case ${tcId}`).toBe(isRefused ? 'malformed_key' : 'accepted');
      counts[isRefused ? 'refused' : 'taken'] += 1;
    }
    expect(counts.taken).toBeGreaterThan(200);
    expect(counts.refused).toBeGreaterThan(20);
  });
});
