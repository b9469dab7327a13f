import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { inspect } from 'node:util';
import { encodeHex } from '@rollcall/core/bytes';
import { describe, expect, it } from 'vitest';
import { createAuthority, restoreAuthority } from './create-authority.ts';
import { asIssuer, dayMs, forge, generateKeyPair, makeAuthority, nowMs, random, trustDomain } from './forge.fixture.ts';
import { parseCertificate } from './parse-certificate.ts';

describe('createAuthority', () => {
  it('makes a self-signed root with the rules of design 6', () => {
    const authority = makeAuthority();
    const parsed = parseCertificate(authority.certificateDer);
    expect(parsed).toMatchObject({
      isCa: true,
      uris: ['spiffe://fleet.example'],
      dnsNames: [],
      ips: [],
      extendedKeyUsage: [],
      notBeforeMs: Math.floor((nowMs - 300_000) / 1000) * 1000,
      notAfterMs: Math.floor((nowMs + 3_650 * dayMs) / 1000) * 1000,
    });
    expect([...parsed.keyUsage].sort()).toEqual(['cRLSign', 'keyCertSign']);
    expect([...parsed.critical].sort()).toEqual(['basicConstraints', 'keyUsage']);
    expect(parsed.issuerDer).toEqual(parsed.subjectDer);
    expect(parsed.subjectKeyId).toHaveLength(20);
    const native = new X509Certificate(authority.certificatePem);
    expect(native.verify(native.publicKey)).toBe(true);
    expect(native.checkPrivateKey(authority.privateKey)).toBe(true);
  });

  it('takes a P-384 key too', () => {
    const authority = makeAuthority({ generateKeyPair: () => generateKeyPair('secp384r1') });
    const native = new X509Certificate(authority.certificateDer);
    expect(native.verify(native.publicKey)).toBe(true);
    expect(authority.certificate.signatureAlgorithm).toBe('1.2.840.10045.4.3.3');
  });

  it('refuses keys of other kinds', () => {
    const generate = (): ReturnType<typeof generateKeyPair> => generateKeyPairSync('ed25519');
    expect(() => makeAuthority({ generateKeyPair: generate })).toThrow(
      expect.objectContaining({ code: 'unusable_subject_key' }),
    );
    expect(() => makeAuthority({ generateKeyPair: () => generateKeyPair('secp256k1') })).toThrow(
      expect.objectContaining({ code: 'unusable_subject_key' }),
    );
  });

  it.each(['', 'Fleet.example', 'fleet.example/hub', 'fleet example', 'fleet.example:443', `${'a'.repeat(256)}`])(
    'refuses the trust domain %j',
    (bad) => {
      expect(() => makeAuthority({ trustDomain: bad })).toThrow(
        expect.objectContaining({ code: 'malformed_spiffe_id' }),
      );
    },
  );

  it('takes a random source that gives nothing for what it is', () => {
    expect(() => makeAuthority({ random: (n) => new Uint8Array(n) })).toThrow(
      expect.objectContaining({ code: 'internal' }),
    );
    expect(() => makeAuthority({ random: () => new Uint8Array(4).fill(1) })).toThrow(
      expect.objectContaining({ code: 'internal' }),
    );
  });

  it('shows no key when it is printed', () => {
    const authority = makeAuthority();
    const secret = authority.privateKeyPkcs8;
    const scalar = Buffer.from(authority.privateKey.export({ format: 'jwk' }).d as string, 'base64url');
    const printed =
      inspect(authority, { depth: 9, showHidden: true }) +
      JSON.stringify(authority) +
      JSON.stringify(Object.assign({}, authority));
    for (const bytes of [secret, Uint8Array.from(scalar)]) {
      expect(printed).not.toContain(encodeHex(bytes));
      expect(printed).not.toContain(Buffer.from(bytes).toString('base64').slice(0, 20));
    }
    expect(printed).not.toContain(Array.from(scalar.subarray(0, 8)).join(', '));
  });
});

describe('restoreAuthority', () => {
  const created = createAuthority({ trustDomain, commonName: 'root', generateKeyPair, random, nowMs, lifeMs: dayMs });

  it('gives back an authority that signs', () => {
    const restored = restoreAuthority({
      certificateDer: created.certificateDer,
      privateKeyPkcs8: created.privateKeyPkcs8,
    });
    expect(restored.trustDomain).toBe(trustDomain);
    expect(
      restored.privateKey.equals(
        createPrivateKey(created.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string),
      ),
    ).toBe(true);
    expect(restored.certificatePem).toBe(created.certificatePem);
  });

  it.each([
    ['the key of another authority', created.certificateDer, makeAuthority().privateKeyPkcs8, 'key_of_another'],
    ['bytes that are no key', created.certificateDer, random(32), 'unreadable_key'],
    ['a leaf', forge({ issuer: asIssuer(created) }).der, created.privateKeyPkcs8, 'not_an_authority'],
  ] as const)('refuses %s', (_, certificateDer, privateKeyPkcs8, reason) => {
    expect(() => restoreAuthority({ certificateDer, privateKeyPkcs8 })).toThrow(
      expect.objectContaining({ code: 'unusable_authority', details: { reason } }),
    );
  });
});
