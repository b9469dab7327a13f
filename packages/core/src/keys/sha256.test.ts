import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { concatBytes, encodeHex } from '../bytes.ts';
import { readWycheproof, unhex } from '../published-vectors.fixture.ts';
import { hkdfExpand, hkdfExtract } from './hkdf-sha256.ts';
import { HmacSha256, hmacSha256, sha256, sha256Hex } from './sha256.ts';

test('SHA-256 of abc (FIPS 180-4)', () => {
  const expected = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(encodeHex(sha256(Buffer.from('abc')))).toBe(expected);
  expect(sha256Hex(Buffer.from('abc'))).toBe(expected);
});

describe('HMAC-SHA256', () => {
  const groups = readWycheproof<{ key: string; msg: string; tag: string }>('hmac_sha256_test.json');

  // Skipped where the published vectors are not beside the project: they are read there, never copied.
  test.skipIf(groups === undefined)('gives the verdicts of Wycheproof', () => {
    let cases = 0;
    for (const { tagSize, tests } of groups ?? []) {
      for (const { key, msg, tag, result, tcId } of tests) {
        const mac = encodeHex(hmacSha256(unhex(key), unhex(msg)).subarray(0, tagSize / 8));
        expect(mac === tag ? 'valid' : 'invalid', `case ${tcId}`).toBe(result);
        cases += 1;
      }
    }
    expect(cases).toBeGreaterThan(100);
  });

  test('is that of node:crypto for every length of key and message, in whatever parts', () => {
    const bytes = fc.uint8Array({ maxLength: 700 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(bytes, { maxLength: 4 }), (key, parts) => {
        const expected = createHmac('sha256', key)
          .update(concatBytes(...parts))
          .digest();
        expect(encodeHex(hmacSha256(key, ...parts))).toBe(expected.toString('hex'));
      }),
      { numRuns: 500 },
    );
  });

  test('is not touched by what was MACed before, nor hands out memory that is used again', () => {
    const first = hmacSha256(new Uint8Array(64).fill(1), new Uint8Array(500).fill(2));
    const copy = encodeHex(first);
    expect(encodeHex(hmacSha256(new Uint8Array(1), new Uint8Array(1)))).toBe(
      createHmac('sha256', new Uint8Array(1)).update(new Uint8Array(1)).digest('hex'),
    );
    expect(encodeHex(first)).toBe(copy);
    const prepared = new HmacSha256(new Uint8Array(3), 8);
    const mac = prepared.mac(2);
    prepared.message.fill(9);
    prepared.mac(8);
    expect(encodeHex(mac)).toBe(createHmac('sha256', new Uint8Array(3)).update(new Uint8Array(2)).digest('hex'));
  });
});

describe('HKDF-SHA256', () => {
  const groups = readWycheproof<{ ikm: string; salt: string; info: string; size: number; okm: string }>(
    'hkdf_sha256_test.json',
  );

  // Skipped where the published vectors are not beside the project: they are read there, never copied.
  test.skipIf(groups === undefined)('gives the verdicts of Wycheproof', () => {
    const verdicts = { valid: 0, invalid: 0, acceptable: 0 };
    for (const { tests } of groups ?? []) {
      for (const { ikm, salt, info, size, okm, result, tcId } of tests) {
        const derive = () => encodeHex(hkdfExpand(hkdfExtract(unhex(salt), unhex(ikm)), size, unhex(info)));
        if (result === 'valid') expect(derive(), `case ${tcId}`).toBe(okm);
        else expect(derive, `case ${tcId}`).toThrow(RangeError);
        verdicts[result] += 1;
      }
    }
    expect(verdicts.valid).toBeGreaterThan(40);
    expect(verdicts.invalid).toBeGreaterThan(0);
  });

  test('takes an info above the 1,024 bytes at which hkdfSync gives up', () => {
    const prk = new Uint8Array(32).fill(7);
    const info = new Uint8Array(1_025).fill(8);
    const expected = createHmac('sha256', prk).update(info).update(Uint8Array.of(1)).digest('hex');
    expect(encodeHex(hkdfExpand(prk, 32, info))).toBe(expected);
  });

  test.each([0, -1, 1.5, 8_161, Number.NaN])('refuses a length of %d', (length) => {
    expect(() => hkdfExpand(new Uint8Array(32), length)).toThrow(RangeError);
    expect(hkdfExpand(new Uint8Array(32), 8_160)).toHaveLength(8_160);
    expect(hkdfExpand(new Uint8Array(32), 1)).toHaveLength(1);
  });
});
