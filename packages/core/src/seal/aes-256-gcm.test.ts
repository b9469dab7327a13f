import { createDecipheriv } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { concatBytes, encodeHex } from '../bytes.ts';
import { readWycheproof, unhex } from '../published-vectors.fixture.ts';
import { decryptAes256Gcm, encryptAes256Gcm } from './aes-256-gcm.ts';

interface AeadTest {
  readonly key: string;
  readonly iv: string;
  readonly aad: string;
  readonly msg: string;
  readonly ct: string;
  readonly tag: string;
}

const groups = readWycheproof<AeadTest>('aes_gcm_test.json');

// Skipped where the published vectors are not beside the project: they are read there, never copied.
test.skipIf(groups === undefined)('gives the verdicts of Wycheproof', () => {
  const verdicts = { valid: 0, invalid: 0, acceptable: 0, otherNonce: 0 };
  for (const { keySize, ivSize, tests } of groups?.filter(({ keySize: bits }) => bits === 256) ?? []) {
    expect(keySize).toBe(256);
    for (const { key, iv, aad, msg, ct, tag, result, tcId } of tests) {
      const open = () => decryptAes256Gcm(unhex(key), unhex(iv), unhex(aad), unhex(ct + tag));
      if (ivSize !== 96) {
        expect(open, `case ${tcId}`).toThrow(TypeError);
        verdicts.otherNonce += 1;
        continue;
      }
      const opened = open();
      expect(opened === undefined ? 'invalid' : encodeHex(opened), `case ${tcId}`).toBe(
        result === 'valid' ? msg : 'invalid',
      );
      if (result === 'valid') {
        expect(encodeHex(encryptAes256Gcm(unhex(key), unhex(iv), unhex(aad), unhex(msg)))).toBe(ct + tag);
      }
      verdicts[result] += 1;
    }
  }
  expect(verdicts.valid).toBeGreaterThan(20);
  expect(verdicts.invalid).toBeGreaterThan(10);
});

const key = new Uint8Array(32).fill(1);
const nonce = new Uint8Array(12).fill(2);
const aad = Buffer.from('for agent-7');
const plaintext = new Uint8Array(Buffer.from('a secret of some length'));
const sealed = encryptAes256Gcm(key, nonce, aad, plaintext);

test('round-trips, and refuses each flipped bit, each cut and an added byte', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ maxLength: 40 }), fc.nat(), (message, data, at) => {
      const ct = encryptAes256Gcm(key, nonce, data, message);
      expect(decryptAes256Gcm(key, nonce, data, ct)).toEqual(message);
      const flipped = ct.slice();
      flipped[at % ct.length] = (flipped[at % ct.length] as number) ^ (1 << (at % 8));
      for (const bad of [flipped, ct.slice(0, at % ct.length), ct.slice(1), concatBytes(ct, Uint8Array.of(0))]) {
        expect(decryptAes256Gcm(key, nonce, data, bad)).toBeUndefined();
      }
      expect(decryptAes256Gcm(key, nonce, concatBytes(data, Uint8Array.of(0)), ct)).toBeUndefined();
    }),
  );
});

describe('traps of createDecipheriv', () => {
  test('a tag cut to 4, 8, 12 to 15 bytes is taken by Node without authTagLength, and not by us', () => {
    const body = sealed.subarray(0, -16);
    for (const length of [4, 8, 12, 13, 14, 15]) {
      const tag = sealed.subarray(body.length, body.length + length);
      const lax = createDecipheriv('aes-256-gcm', key, nonce).setAAD(aad).setAuthTag(tag);
      expect(concatBytes(lax.update(body), lax.final())).toEqual(plaintext);
      expect(decryptAes256Gcm(key, nonce, aad, concatBytes(body, tag))).toBeUndefined();
    }
    expect(decryptAes256Gcm(key, nonce, aad, sealed)).toEqual(plaintext);
  });

  test('update() releases plaintext before the tag is checked, and we do not', () => {
    const forged = sealed.slice();
    forged[forged.length - 1] = (forged[forged.length - 1] as number) ^ 1;
    const lax = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
      .setAAD(aad)
      .setAuthTag(forged.subarray(-16));
    expect(new Uint8Array(lax.update(forged.subarray(0, -16)))).toEqual(plaintext);
    expect(decryptAes256Gcm(key, nonce, aad, forged)).toBeUndefined();
  });

  test('a nonce of another length is a mistake, not another nonce', () => {
    expect(() => encryptAes256Gcm(key, new Uint8Array(16), aad, plaintext)).toThrow(TypeError);
    expect(() => decryptAes256Gcm(key, new Uint8Array(8), aad, sealed)).toThrow(TypeError);
    expect(() => encryptAes256Gcm(new Uint8Array(16), nonce, aad, plaintext)).toThrow();
  });
});
