import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { encodeHex } from '../bytes.ts';
import { readWycheproof, unhex } from '../published-vectors.fixture.ts';
import { refusalOf } from '../refusal.fixture.ts';
import { ed25519PublicKey, importEd25519Seed, parseEd25519PublicKey, signEd25519, verifyEd25519 } from './ed25519.ts';

const seed = new Uint8Array(32).fill(3);
const key = importEd25519Seed(seed);
const message = Buffer.from('a message');

test('RFC 8032 §7.1, test 1', () => {
  const rfcSeed = unhex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
  expect(encodeHex(ed25519PublicKey(rfcSeed))).toBe('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
  expect(encodeHex(signEd25519(importEd25519Seed(rfcSeed), new Uint8Array()))).toBe(
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  );
});

const groups = readWycheproof<{ msg: string; sig: string }>('ed25519_test.json');

// Skipped where the published vectors are not beside the project: they are read there, never copied.
test.skipIf(groups === undefined)('gives the verdicts of Wycheproof', () => {
  const verdicts = { valid: 0, invalid: 0, acceptable: 0 };
  for (const { publicKey, tests } of groups ?? []) {
    for (const { msg, sig, result, tcId } of tests) {
      const verdict = refusalOf(() => verifyEd25519(unhex(publicKey.pk), unhex(msg), unhex(sig)));
      expect(verdict, `case ${tcId}`).toBe(result === 'valid' ? 'accepted' : 'bad_signature');
      verdicts[result] += 1;
    }
  }
  expect(verdicts.valid).toBeGreaterThan(40);
  expect(verdicts.invalid).toBeGreaterThan(30);
});

describe('public keys of small order', () => {
  const p = 2n ** 255n - 19n;

  test('are the eight of the curve, by our own arithmetic', () => {
    // y of the points of order 1, 2 and 4 are 1, -1 and 0; doubling one of order 8 gives y = 0, that is y^2 + x^2 = 0
    // on -x^2 + y^2 = 1 + d x^2 y^2: so x^2 = -y^2, and 2 y^2 = 1 - d y^4.
    const d = mod(-121665n * inverse(121666n));
    for (const y of [
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    ]) {
      const square = mod(decode(y) ** 2n);
      expect(mod(2n * square - 1n + d * square * square)).toBe(0n);
    }
  });

  const ys = [
    1n,
    p - 1n,
    0n,
    decode('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'),
    decode('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'),
  ];
  const keys = ys.flatMap((y) => [y, y + 2n ** 255n]).map(encode);

  test.each(keys.map((bytes) => [encodeHex(bytes), bytes] as const))('%s is refused', (_, bytes) => {
    expect(refusalOf(() => parseEd25519PublicKey(bytes))).toBe('malformed_key');
    expect(refusalOf(() => verifyEd25519(bytes, message, new Uint8Array(64)))).toBe('malformed_key');
  });

  test('since OpenSSL takes one signature under such a key for every message', () => {
    const identity = encode(1n);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(identity).toString('base64url') };
    const forged = Buffer.concat([identity, new Uint8Array(32)]);
    for (const text of ['one message', 'another']) {
      expect(verify(null, Buffer.from(text), createPublicKey({ key: jwk, format: 'jwk' }), forged)).toBe(true);
      expect(refusalOf(() => verifyEd25519(identity, Buffer.from(text), forged))).toBe('malformed_key');
    }
  });

  test.each([p, p + 1n, 2n ** 255n - 1n])('y = %d has a second text and is refused', (y) => {
    expect(refusalOf(() => parseEd25519PublicKey(encode(y)))).toBe('malformed_key');
  });

  test('what is longer or shorter than a key is none', () => {
    const good = ed25519PublicKey(key);
    expect(refusalOf(() => parseEd25519PublicKey(new Uint8Array([...good, 0])))).toBe('malformed_key');
    expect(refusalOf(() => parseEd25519PublicKey(good.subarray(1)))).toBe('malformed_key');
    expect(parseEd25519PublicKey(good)).toBe(good);
  });

  test('y = p - 2 is below the prime and is not', () => {
    expect(parseEd25519PublicKey(encode(p - 2n))).toEqual(encode(p - 2n));
  });

  function mod(x: bigint): bigint {
    return ((x % p) + p) % p;
  }
  function inverse(x: bigint): bigint {
    let result = 1n;
    let base = mod(x);
    for (let exponent = p - 2n; exponent > 0n; exponent >>= 1n) {
      if (exponent & 1n) result = mod(result * base);
      base = mod(base * base);
    }
    return result;
  }
  function decode(hex: string): bigint {
    return BigInt(`0x${Buffer.from(hex, 'hex').reverse().toString('hex')}`);
  }
  function encode(y: bigint): Uint8Array {
    return new Uint8Array(Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse());
  }
});

describe('signatures', () => {
  const signature = signEd25519(key, message);
  const publicKey = ed25519PublicKey(key);

  test('verify, and return what was signed', () => {
    expect(verifyEd25519(publicKey, message, signature)).toBe(message);
  });

  test.each([0, 31, 32, 63])('with byte %d flipped do not', (at) => {
    const flipped = signature.map((byte, index) => (index === at ? byte ^ 1 : byte));
    expect(refusalOf(() => verifyEd25519(publicKey, message, flipped))).toBe('bad_signature');
  });

  test.each([0, 63, 65])('of %d bytes do not', (length) => {
    const other = new Uint8Array(length);
    other.set(signature.subarray(0, length));
    expect(refusalOf(() => verifyEd25519(publicKey, message, other))).toBe('bad_signature');
  });

  test('are made by Ed25519 private keys only', () => {
    expect(() => signEd25519(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, message)).toThrow(
      TypeError,
    );
    expect(() => signEd25519(generateKeyPairSync('x25519').privateKey, message)).toThrow(TypeError);
    expect(refusalOf(() => importEd25519Seed(new Uint8Array(31)))).toBe('malformed_key');
  });
});
