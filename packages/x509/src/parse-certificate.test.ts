import { X509Certificate } from 'node:crypto';
import { encodeHex } from '@rollcall/core/bytes';
import { isRollcallError } from '@rollcall/core/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asIssuer, dayMs, forge, makeAuthority, nowMs, random, sha256, spkiOf, trustDomain } from './forge.fixture.ts';
import { issueCertificate } from './issue-certificate.ts';
import { judgeHubCertificate } from './judge-hub.ts';
import { parseCertificate, spkiSha256 } from './parse-certificate.ts';
import { encodeCertificatePem } from './pem.ts';
import { basicConstraints, subjectAltName } from './sign-certificate.ts';

const root = makeAuthority();
const issuer = asIssuer(root);
const good = forge({ issuer });
const der = good.der;

function refused(reason: string): unknown {
  return expect.objectContaining({ code: 'malformed_certificate', details: { reason } });
}

describe('parseCertificate', () => {
  it('reads what stands there, and keeps the bytes', () => {
    const parsed = parseCertificate(der);
    expect(parsed.der).toEqual(der);
    expect(parsed.spkiSha256).toEqual(sha256(spkiOf(good.publicKey)));
    expect(spkiSha256(der)).toEqual(parsed.spkiSha256);
    expect(parsed.serial).toBe(new X509Certificate(der).serialNumber.toLowerCase());
  });

  it('does not see later changes to the bytes that it was given', () => {
    const mine = Uint8Array.from(der);
    const parsed = parseCertificate(mine);
    mine.fill(0);
    expect(parsed.der).toEqual(der);
  });

  it.each<[string, string, Uint8Array]>([
    [
      'an extension twice',
      'duplicate_extension',
      forge({ issuer, add: [subjectAltName({ uris: ['spiffe://a/b'] })] }).der,
    ],
    ['an unknown extension twice', 'duplicate_extension', forge({ issuer, add: [unknown(false), unknown(false)] }).der],
    ['an unknown critical extension', 'unknown_critical_extension', forge({ issuer, add: [unknown(true)] }).der],
    ['trailing bytes', 'not_canonical', Uint8Array.of(...der, 0)],
    ['another certificate after it', 'not_canonical', Uint8Array.of(...der, ...der)],
    ['bytes after an extension', 'not_canonical', withValue('2.5.29.19', Uint8Array.of(0x30, 0x00, 0x05, 0x00))],
    ['a default written out', 'not_canonical', withValue('2.5.29.19', Uint8Array.of(0x30, 0x03, 0x01, 0x01, 0x00))],
    ['a truth of another value', 'not_canonical', withValue('2.5.29.19', Uint8Array.of(0x30, 0x03, 0x01, 0x01, 0x01))],
    [
      'a path length without authority',
      'basic_constraints',
      withValue('2.5.29.19', Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0x00)),
    ],
    ['a length in the long form', 'not_canonical', withValue('2.5.29.19', Uint8Array.of(0x30, 0x81, 0x00))],
    ['an indefinite length', 'not_canonical', withValue('2.5.29.19', Uint8Array.of(0x30, 0x80, 0x00, 0x00))],
    ['no names in the names', 'subject_alt_name', withValue('2.5.29.17', Uint8Array.of(0x30, 0x00))],
    ['an address of five bytes', 'not_der', withValue('2.5.29.17', Uint8Array.of(0x30, 7, 0x87, 5, 1, 2, 3, 4, 5))],
    [
      'a mail address among the names',
      'subject_alt_name',
      withValue('2.5.29.17', Uint8Array.of(0x30, 5, 0x81, 3, 0x61, 0x40, 0x62)),
    ],
    [
      'a NUL in a name',
      'subject_alt_name',
      forge({ issuer, replace: { '2.5.29.17': subjectAltName({ uris: ['spiffe://a/hub\0.b'] }) } }).der,
    ],
    [
      'a space in a name',
      'subject_alt_name',
      forge({ issuer, replace: { '2.5.29.17': subjectAltName({ uris: ['spiffe://a/hub '] }) } }).der,
    ],
    ['no key usage bits', 'key_usage', withValue('2.5.29.15', Uint8Array.of(0x03, 0x02, 0x07, 0x00))],
    [
      'key usage with a zero bit at its end',
      'key_usage',
      withValue('2.5.29.15', Uint8Array.of(0x03, 0x02, 0x06, 0x80)),
    ],
    ['more key usage than there is', 'key_usage', withValue('2.5.29.15', Uint8Array.of(0x03, 0x04, 0x00, 0x80, 0, 1))],
    ['no extended key usage', 'extended_key_usage', withValue('2.5.29.37', Uint8Array.of(0x30, 0x00))],
    [
      'dates in the wrong order',
      'validity',
      forge({ issuer, parts: { notBeforeMs: nowMs, notAfterMs: nowMs - 2_000 } }).der,
    ],
    ['serial zero', 'serial', forge({ issuer, parts: { serial: new Uint8Array(16) } }).der],
    ['a serial of 21 bytes', 'serial', forge({ issuer, parts: { serial: new Uint8Array(21).fill(0x7f) } }).der],
    ['nothing', 'not_der', new Uint8Array(0)],
    ['more than any certificate', 'too_large', new Uint8Array(16_385)],
    ['a deep nest', 'not_der', nest(4_000)],
  ])('refuses %s', (_, reason, bad) => {
    expect(parseCertificate(der).uris).toHaveLength(1);
    expect(() => parseCertificate(bad)).toThrow(refused(reason));
  });

  it('keeps the input out of the error', () => {
    const bad = forge({
      issuer,
      add: [{ oid: '1.3.6.1.4.1.99999.1', critical: true, value: new TextEncoder().encode('hunter2hunter2') }],
    }).der;
    const caught = capture(() => parseCertificate(bad));
    expect(JSON.stringify(caught) + String((caught as Error).stack)).not.toContain('hunter2');
    expect((caught as Error).cause).toBeUndefined();
  });

  it('reads back whatever was issued', () => {
    const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/);
    const path = fc.array(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        path,
        fc.array(label, { maxLength: 4 }),
        fc.array(fc.ipV4(), { maxLength: 3 }),
        fc.integer({ min: 1_000, max: 1e12 }),
        (segments, dnsNames, ipAddresses, lifeMs) => {
          const uri = `spiffe://${trustDomain}/${segments.join('/')}`;
          const isName = dnsNames.filter((name) => !/^\d+$/.test(name));
          const issued = issueCertificate({
            authority: root,
            subjectPublicKey: good.publicKey,
            commonName: 'x',
            uri,
            dnsNames: isName,
            ipAddresses,
            usage: 'serverAuth',
            nowMs,
            lifeMs,
            random,
          });
          const parsed = parseCertificate(issued.certificateDer);
          expect(parsed).toMatchObject({
            uris: [uri],
            dnsNames: isName,
            ips: ipAddresses,
            notAfterMs: issued.notAfterMs,
            serial: issued.serial.replace(/^(?:00)+/, ''),
          });
          expect(parsed.notAfterMs).toBeLessThanOrEqual(root.certificate.notAfterMs);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a certificate that was tampered with', () => {
  const request = { bundle: [root.certificateDer], trustDomain, knownSpki: [parseCertificate(der).spkiSha256], nowMs };

  it('passes as it is', () => {
    expect(judgeHubCertificate({ ...request, chain: [der] }).datesTrusted).toBe(true);
  });

  it('is refused at every length but its own', () => {
    for (let length = 0; length < der.length; length += 1) assertRefused(der.subarray(0, length));
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (tail) =>
        assertRefused(Uint8Array.of(...der, ...tail)),
      ),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (head) =>
        assertRefused(Uint8Array.of(...head, ...der)),
      ),
    );
  });

  it('is refused with a bit flipped in any byte', { timeout: 60_000 }, () => {
    for (let at = 0; at < der.length; at += 1) {
      // The lowest bit (values, kinds), the one that tells letter case and constructed forms, the highest (lengths).
      for (const mask of [0x01, 0x20, 0x80]) {
        const flipped = Uint8Array.from(der);
        flipped[at] = (flipped[at] ?? 0) ^ mask;
        assertRefused(flipped);
      }
    }
  });

  it('is refused with a stretch inserted, removed or overwritten', () => {
    fc.assert(
      fc.property(fc.nat(der.length - 1), fc.nat(8), fc.uint8Array({ maxLength: 8 }), (at, removed, inserted) => {
        const changed = Uint8Array.of(...der.subarray(0, at), ...inserted, ...der.subarray(at + removed));
        fc.pre(encodeHex(changed) !== encodeHex(der));
        assertRefused(changed);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is refused as noise', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => assertRefused(bytes)),
      { numRuns: 500 },
    );
  });

  function assertRefused(bytes: Uint8Array): void {
    const caught = capture(() => judgeHubCertificate({ ...request, chain: [bytes] }));
    if (!isRollcallError(caught, 'hub_untrusted')) throw new Error('accepted, or crashed', { cause: caught });
    const parsing = capture(() => parseCertificate(bytes));
    if (parsing !== undefined && !isRollcallError(parsing, 'malformed_certificate'))
      throw new Error('crashed', { cause: parsing });
  }
});

it('writes PEM that OpenSSL reads', () => {
  expect(new X509Certificate(encodeCertificatePem(der)).raw.equals(der)).toBe(true);
});

function unknown(critical: boolean): { oid: string; critical: boolean; value: Uint8Array } {
  return { oid: '1.3.6.1.4.1.99999.1', critical, value: Uint8Array.of(5, 0) };
}

function withValue(oid: string, value: Uint8Array): Uint8Array {
  const { critical } = basicConstraints({ isCa: false });
  return forge({ issuer, replace: { [oid]: { oid, critical, value } }, parts: { notAfterMs: nowMs + dayMs } }).der;
}

/** Sequences within sequences, `depth` deep. */
function nest(depth: number): Uint8Array {
  let bytes: number[] = [];
  for (let at = 0; at < depth; at += 1) {
    const { length } = bytes;
    const header =
      length < 0x80 ? [0x30, length] : length < 0x100 ? [0x30, 0x81, length] : [0x30, 0x82, length >> 8, length & 0xff];
    bytes = header.concat(bytes);
    if (bytes.length > 16_000) break;
  }
  return Uint8Array.from(bytes);
}

function capture(act: () => unknown): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error;
  }
}
