import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { encodeHex } from '../bytes.ts';
import { readWycheproof, unhex } from '../published-vectors.fixture.ts';
import { refusalOf } from '../refusal.fixture.ts';
import { agreeX25519, assertX25519Public, importX25519Private, importX25519Public, x25519PublicKey } from './x25519.ts';

interface Agreement {
  readonly public: string;
  readonly private: string;
  readonly shared: string;
}

describe('Wycheproof', () => {
  const groups = readWycheproof<Agreement>('x25519_test.json');

  // Skipped where the published vectors are not beside the project: they are read there, never copied.
  test.skipIf(groups === undefined)('every agreement gives its shared secret, or is refused for a reason', () => {
    const counts = { agreed: 0, refused: 0 };
    for (const { public: publicHex, private: privateHex, shared, flags, tcId } of groups?.flatMap(
      ({ tests }) => tests,
    ) ?? []) {
      const agree = () =>
        encodeHex(agreeX25519(importX25519Private(unhex(privateHex)), importX25519Public(unhex(publicHex))));
      const check = () => assertX25519Public(unhex(publicHex));
      if (
        flags.some((flag) =>
          ['NonCanonicalPublic', 'LowOrderPublic', 'SmallPublicKey', 'ZeroSharedSecret'].includes(flag),
        )
      ) {
        expect(refusalOf(check), `case ${tcId}`).toBe('malformed_key');
        counts.refused += 1;
      } else {
        expect(refusalOf(check), `case ${tcId}`).toBe('accepted');
        expect(agree(), `case ${tcId}`).toBe(shared);
        counts.agreed += 1;
      }
      // The agreement itself stands alone: it refuses exactly what gives zero.
      if (/^0+$/.test(shared)) expect(refusalOf(agree), `case ${tcId}`).toBe('malformed_key');
      else expect(agree(), `case ${tcId}`).toBe(shared);
    }
    expect(counts.agreed).toBeGreaterThan(200);
    expect(counts.refused).toBeGreaterThan(20);
  });
});

describe('low order', () => {
  const order8 = [
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  ];
  const canonical = ['00'.repeat(32), `01${'00'.repeat(31)}`, `ec${'ff'.repeat(30)}7f`, ...order8];
  const second = [`ed${'ff'.repeat(30)}7f`, `ee${'ff'.repeat(30)}7f`, ...canonical.map(setTopBit)];

  test.each([...canonical, ...second])('%s is refused', (hex) => {
    expect(refusalOf(() => assertX25519Public(unhex(hex)))).toBe('malformed_key');
  });

  test.each(canonical)('%s gives zero with any private key, which is refused', (hex) => {
    for (const fill of [1, 77, 255]) {
      const privateKey = importX25519Private(new Uint8Array(32).fill(fill));
      expect(refusalOf(() => agreeX25519(privateKey, importX25519Public(unhex(hex))))).toBe('malformed_key');
    }
  });

  test.each([1, 15, 30])('an element that differs from the largest texts in byte %d alone is below the prime', (at) => {
    const bytes = unhex(`${'ff'.repeat(31)}7f`);
    expect(refusalOf(() => assertX25519Public(bytes))).toBe('malformed_key');
    bytes[at] = 0xfe;
    expect(refusalOf(() => assertX25519Public(bytes))).toBe('accepted');
  });

  test('the base point, and the largest element but one, are not', () => {
    expect(refusalOf(() => assertX25519Public(unhex(`09${'00'.repeat(31)}`)))).toBe('accepted');
    expect(refusalOf(() => assertX25519Public(unhex(`eb${'ff'.repeat(30)}7f`)))).toBe('accepted');
  });

  function setTopBit(hex: string): string {
    const bytes = Buffer.from(hex, 'hex');
    bytes[31] = (bytes[31] as number) | 0x80;
    return bytes.toString('hex');
  }
});

describe('what Node takes and we do not', () => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const raw = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));

  test('a private JWK with a wrong x: our public half is computed, not believed', () => {
    const jwk = { ...privateKey.export({ format: 'jwk' }), x: Buffer.alloc(32, 9).toString('base64url') };
    expect(() => createPrivateKey({ key: jwk, format: 'jwk' })).not.toThrow();
    const d = new Uint8Array(Buffer.from(jwk.d as string, 'base64url'));
    expect(x25519PublicKey(importX25519Private(d))).toEqual(raw);
  });

  test('a JWK with stray characters, an SPKI with trailing bytes: only raw bytes of one length come in', () => {
    const x = Buffer.from(raw).toString('base64url');
    expect(() => createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: `${x}=` }, format: 'jwk' })).not.toThrow();
    expect(refusalOf(() => assertX25519Public(raw))).toBe('accepted');
    expect(refusalOf(() => assertX25519Public(new Uint8Array([...raw, 0])))).toBe('malformed_key');
    expect(refusalOf(() => assertX25519Public(raw.subarray(1)))).toBe('malformed_key');
    expect(refusalOf(() => importX25519Private(new Uint8Array(33)))).toBe('malformed_key');
  });
});
