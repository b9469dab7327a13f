import { generateKeyPairSync, sign } from 'node:crypto';
import { CertificationRequest, type CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import { AlgorithmIdentifier, Attribute, SubjectPublicKeyInfo } from '@peculiar/asn1-x509';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCertificateRequest, verifyCertificateRequest } from './certificate-request.ts';
import { serialize } from './der.ts';
import { generateKeyPair, sha256, spkiOf } from './forge.fixture.ts';

const keys = generateKeyPair();
const good = createCertificateRequest(keys.privateKey, 'agent-7');

function refused(reason: string): unknown {
  return expect.objectContaining({ code: 'malformed_certificate_request', details: { reason } });
}

/** A request that is right but for what is changed in its parts before it is signed. */
function forged(change: {
  readonly info?: (info: CertificationRequestInfo) => void;
  readonly hash?: string;
  readonly algorithm?: AlgorithmIdentifier;
  readonly signer?: typeof keys.privateKey;
}): Uint8Array {
  const { certificationRequestInfo: info, signatureAlgorithm } = AsnConvert.parse(good, CertificationRequest);
  change.info?.(info);
  const signature = sign(change.hash ?? 'sha256', serialize(info), change.signer ?? keys.privateKey);
  return serialize(
    new CertificationRequest({
      certificationRequestInfo: info,
      signatureAlgorithm: change.algorithm ?? signatureAlgorithm,
      signature: Uint8Array.from(signature).buffer,
    }),
  );
}

describe('verifyCertificateRequest', () => {
  it('gives the key of a request that this file makes, on either curve', () => {
    expect(verifyCertificateRequest(good)).toEqual({
      spkiDer: spkiOf(keys.publicKey),
      spkiSha256: sha256(spkiOf(keys.publicKey)),
    });
    const other = generateKeyPair('secp384r1');
    const request = createCertificateRequest(other.privateKey, 'agent-7');
    expect(verifyCertificateRequest(request).spkiDer).toEqual(spkiOf(other.publicKey));
  });

  it('takes SHA-384 and names that are asked for, and reads none of them', () => {
    const names = new Attribute({ type: '1.2.840.113549.1.9.14', values: [Uint8Array.of(0x30, 0x00).buffer] });
    const request = forged({
      info: (info) => info.attributes.push(names),
      hash: 'sha384',
      algorithm: new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.3' }),
    });
    expect(verifyCertificateRequest(request).spkiDer).toEqual(spkiOf(keys.publicKey));
  });

  it.each<[string, string, Uint8Array]>([
    ['nothing', 'not_der', new Uint8Array()],
    ['more than any request', 'too_large', new Uint8Array(4_097)],
    ['trailing bytes', 'not_canonical', Uint8Array.of(...good, 0)],
    ['a request after it', 'not_canonical', Uint8Array.of(...good, ...good)],
    ['another version', 'version', forged({ info: (info) => Object.assign(info, { version: 1 }) })],
    [
      'an attribute that nobody reads',
      'attributes',
      forged({
        info: (info) =>
          info.attributes.push(
            new Attribute({ type: '1.2.840.113549.1.9.7', values: [Uint8Array.of(0x0c, 1, 0x61).buffer] }),
          ),
      }),
    ],
    [
      'two lists of names',
      'attributes',
      forged({
        info: (info) => {
          for (let count = 0; count < 2; count += 1)
            info.attributes.push(
              new Attribute({ type: '1.2.840.113549.1.9.14', values: [Uint8Array.of(0x30, 0x00).buffer] }),
            );
        },
      }),
    ],
    ['the signature of another key', 'signature', forged({ signer: generateKeyPair().privateKey })],
    [
      'SHA-1',
      'signature_algorithm',
      forged({ algorithm: new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.1' }) }),
    ],
    [
      'parameters where none belong',
      'signature_algorithm',
      forged({ algorithm: new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2', parameters: NULL() }) }),
    ],
    ['a signature over another hash', 'signature', forged({ hash: 'sha512' })],
    ['a compressed point', 'key_not_canonical', forged({ info: compress })],
  ])('refuses %s', (_name, reason, request) => {
    expect(() => verifyCertificateRequest(request)).toThrow(refused(reason));
  });

  it.each<[string, () => Uint8Array]>([
    ['RSA', () => spkiOf(generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey)],
    ['Ed25519', () => spkiOf(generateKeyPairSync('ed25519').publicKey)],
    ['another curve', () => spkiOf(generateKeyPair('secp256k1').publicKey)],
  ])('refuses a key of %s', (_name, spki) => {
    const request = forged({
      info: (info) => {
        info.subjectPKInfo = AsnConvert.parse(spki(), SubjectPublicKeyInfo);
      },
    });
    expect(() => verifyCertificateRequest(request)).toThrow(expect.objectContaining({ code: 'unusable_subject_key' }));
  });

  it('refuses every request that is cut short', () => {
    for (let length = 0; length < good.length; length += 1)
      expect(() => verifyCertificateRequest(good.subarray(0, length))).toThrow(refused('not_der'));
  });

  it('refuses every request that is longer than it says', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (more) => {
        expect(() => verifyCertificateRequest(Uint8Array.of(...good, ...more))).toThrow(refused('not_canonical'));
      }),
      { numRuns: 50 },
    );
  });

  it('refuses every request with a bit flipped', () => {
    for (let at = 0; at < good.length * 8; at += 1) {
      const flipped = Uint8Array.from(good);
      flipped[at >> 3] = (flipped[at >> 3] as number) ^ (1 << (at & 7));
      expect(() => verifyCertificateRequest(flipped), `bit ${at}`).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^(?:malformed_certificate_request|unusable_subject_key)$/) as unknown,
        }),
      );
    }
  });

  it('takes any bytes without another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(() => verifyCertificateRequest(bytes)).toThrow(
          expect.objectContaining({ code: 'malformed_certificate_request' }),
        );
      }),
    );
  });

  it('never repeats its input in an error', () => {
    const marked = Uint8Array.of(0x30, 8, ...new TextEncoder().encode('SECRETXX'));
    try {
      verifyCertificateRequest(marked);
      expect.unreachable();
    } catch (error) {
      expect(JSON.stringify([String(error), error, (error as Error).cause ?? null])).not.toContain('SECRET');
    }
  });
});

describe('createCertificateRequest', () => {
  it('makes none with a public key or a key of another kind', () => {
    const usable = expect.objectContaining({ code: 'unusable_subject_key' }) as Error;
    expect(() => createCertificateRequest(keys.publicKey, 'a')).toThrow(usable);
    expect(() => createCertificateRequest(generateKeyPairSync('ed25519').privateKey, 'a')).toThrow(usable);
  });
});

/** ASN.1 NULL. */
function NULL(): ArrayBuffer {
  return Uint8Array.of(0x05, 0x00).buffer;
}

/** The same key with its point in the short form (SEC 1 §2.3.3). */
function compress(info: CertificationRequestInfo): void {
  const point = new Uint8Array(info.subjectPKInfo.subjectPublicKey);
  const odd = (point.at(-1) as number) & 1;
  info.subjectPKInfo.subjectPublicKey = Uint8Array.of(2 + odd, ...point.subarray(1, 33)).buffer;
}
