import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dayMs, generateKeyPair, makeAuthority, nowMs, random, spkiOf, trustDomain } from './forge.fixture.ts';
import { type CertificateRequest, issueCertificate } from './issue-certificate.ts';
import { parseCertificate } from './parse-certificate.ts';

const authority = makeAuthority();
const { publicKey } = generateKeyPair();

function request(changes: Partial<CertificateRequest> = {}): CertificateRequest {
  return {
    authority,
    subjectPublicKey: publicKey,
    commonName: 'hub',
    uri: `spiffe://${trustDomain}/hub`,
    dnsNames: ['hub.example', 'LOCALHOST'],
    ipAddresses: ['127.0.0.1', '::1'],
    usage: 'serverAuth',
    nowMs,
    lifeMs: dayMs,
    random,
    ...changes,
  };
}

describe('issueCertificate', () => {
  it('writes the table of design 6', () => {
    const issued = issueCertificate(request());
    const parsed = parseCertificate(issued.certificateDer);
    expect(parsed).toMatchObject({
      serial: issued.serial,
      uris: ['spiffe://fleet.example/hub'],
      dnsNames: ['hub.example', 'localhost'],
      ips: ['127.0.0.1', '::1'],
      isCa: false,
      pathLength: undefined,
      extendedKeyUsage: ['serverAuth'],
      notBeforeMs: Math.floor((nowMs - 300_000) / 1000) * 1000,
      notAfterMs: Math.floor((nowMs + dayMs) / 1000) * 1000,
      issuerDer: authority.certificate.subjectDer,
      authorityKeyId: authority.certificate.subjectKeyId,
      spkiDer: spkiOf(publicKey),
    });
    expect([...parsed.keyUsage]).toEqual(['digitalSignature']);
    expect([...parsed.critical].sort()).toEqual(['basicConstraints', 'keyUsage']);
    expect(parsed.subjectKeyId).toHaveLength(20);
    expect(parsed.subjectKeyId).not.toEqual(parsed.authorityKeyId);
    expect(issued.clamped).toBe(false);
    const native = new X509Certificate(issued.certificatePem);
    expect(native.verify(new X509Certificate(authority.certificateDer).publicKey)).toBe(true);
    expect(native.checkIssued(new X509Certificate(authority.certificateDer))).toBe(true);
    expect(native.checkHost('hub.example')).toBe('hub.example');
    expect(native.checkIP('127.0.0.1')).toBe('127.0.0.1');
  });

  it('takes the key as SPKI DER too, and makes clientAuth certificates', () => {
    const issued = issueCertificate(
      request({
        subjectPublicKey: spkiOf(publicKey),
        usage: 'clientAuth',
        uri: `spiffe://${trustDomain}/host/agent-7`,
        dnsNames: [],
        ipAddresses: [],
      }),
    );
    expect(parseCertificate(issued.certificateDer)).toMatchObject({
      extendedKeyUsage: ['clientAuth'],
      uris: ['spiffe://fleet.example/host/agent-7'],
      dnsNames: [],
      spkiDer: spkiOf(publicKey),
    });
  });

  it('never lets a leaf outlive its issuer', () => {
    const short = makeAuthority({ lifeMs: dayMs });
    const issued = issueCertificate(request({ authority: short, lifeMs: 7 * dayMs }));
    expect(issued).toMatchObject({ clamped: true, notAfterMs: short.certificate.notAfterMs });
    expect(parseCertificate(issued.certificateDer).notAfterMs).toBe(short.certificate.notAfterMs);
    expect(issued.notBeforeMs).toBeGreaterThanOrEqual(short.certificate.notBeforeMs);
    expect(issueCertificate(request({ authority: short, lifeMs: dayMs / 2 })).clamped).toBe(false);
  });

  it('issues nothing that would live too short because its authority ends', () => {
    const short = makeAuthority({ lifeMs: dayMs / 2 });
    const asked = { authority: short, lifeMs: dayMs } as const;
    expect(issueCertificate(request({ ...asked, minLifeMs: dayMs / 2 - 2_000 })).clamped).toBe(true);
    expect(() => issueCertificate(request({ ...asked, minLifeMs: dayMs / 2 + 2_000 }))).toThrow(
      expect.objectContaining({
        code: 'unusable_authority',
        details: { reason: 'too_little_life', endsAt: new Date(short.certificate.notAfterMs).toISOString() },
      }),
    );
    // What is asked to live shorter than the least does: the issuer is not the reason.
    expect(issueCertificate(request({ authority: short, lifeMs: 60_000, minLifeMs: dayMs })).clamped).toBe(false);
  });

  it.each([
    ['for a clock that is right', undefined, 300_000],
    ['for a clock that is little behind', 60_000, 300_000],
    ['for a clock that is behind', 1_800_000, 1_800_000],
    ['for a clock that is far behind', dayMs, 3_600_000],
    ['for a clock that is ahead', -60_000, 300_000],
  ])('is valid early, %s', (_name, backdateMs, early) => {
    const old = makeAuthority({ nowMs: nowMs - 2 * dayMs });
    const issued = issueCertificate(request({ authority: old, ...(backdateMs === undefined ? {} : { backdateMs }) }));
    expect(issued.notBeforeMs).toBe(Math.floor((nowMs - early) / 1_000) * 1_000);
  });

  it.each([
    ['has expired', nowMs + dayMs + 1_000],
    ['is not valid yet', nowMs - dayMs],
  ])('issues nothing when the authority %s', (_, at) => {
    const short = makeAuthority({ lifeMs: dayMs });
    expect(() => issueCertificate(request({ authority: short, nowMs: at }))).toThrow(
      expect.objectContaining({ code: 'unusable_authority' }),
    );
    expect(issueCertificate(request({ authority: short, nowMs: nowMs + dayMs / 2 })).serial).toMatch(
      /^(?:[0-9a-f]{2}){1,16}$/,
    );
  });

  it.each([
    'spiffe://other.example/hub',
    'spiffe://fleet.example',
    'spiffe://fleet.example/',
    'spiffe://fleet.example/host/../hub',
    'spiffe://fleet.example/./hub',
    'spiffe://fleet.example//hub',
    'spiffe://fleet.example/hub?x',
    'spiffe://fleet.example/h%75b',
    'spiffe://fleet.example/hub\n',
    'https://fleet.example/hub',
    'SPIFFE://fleet.example/hub',
  ])('refuses the id %j', (uri) => {
    expect(() => issueCertificate(request({ uri }))).toThrow(expect.objectContaining({ code: 'malformed_spiffe_id' }));
  });

  it.each([
    '*.example',
    '',
    'a..b',
    '-a.example',
    'a_b.example',
    '127.0.0.1',
    'hub.example.',
    `${'a'.repeat(64)}.example`,
  ])('refuses the DNS name %j', (name) => {
    expect(() => issueCertificate(request({ dnsNames: [name] }))).toThrow(
      expect.objectContaining({ code: 'malformed_certificate', details: { reason: 'dns_name' } }),
    );
  });

  it.each(['', '1.2.3', 'fe80::1%eth0', 'hub.example', '[::1]'])('refuses the address %j', (address) => {
    expect(() => issueCertificate(request({ ipAddresses: [address] }))).toThrow(
      expect.objectContaining({ code: 'malformed_certificate', details: { reason: 'ip_address' } }),
    );
  });

  it.each([
    ['::FFFF:1.2.3.4', '0:0:0:0:0:FFFF:102:304'],
    ['2001:DB8:0:0:0:0:0:1', '2001:DB8:0:0:0:0:0:1'],
    ['10.0.0.1', '10.0.0.1'],
  ])('writes the address %s as OpenSSL reads it', (address, shown) => {
    const { certificateDer } = issueCertificate(request({ ipAddresses: [address] }));
    expect(new X509Certificate(certificateDer).subjectAltName).toContain(`IP Address:${shown}`);
  });

  it('refuses keys that are not P-256 or P-384', () => {
    for (const bad of [
      generateKeyPairSync('ed25519').publicKey,
      generateKeyPair('secp256k1').publicKey,
      generateKeyPair().privateKey,
      random(91),
    ]) {
      expect(() => issueCertificate(request({ subjectPublicKey: bad }))).toThrow(
        expect.objectContaining({ code: 'unusable_subject_key' }),
      );
    }
    expect(issueCertificate(request({ subjectPublicKey: generateKeyPair('secp384r1').publicKey })).clamped).toBe(false);
  });

  it('draws 128 random bits for each serial, and writes them as a positive number', () => {
    const high = issueCertificate(request({ random: (n) => new Uint8Array(n).fill(0xff) }));
    expect(parseCertificate(high.certificateDer).serial).toBe('ff'.repeat(16));
    const low = issueCertificate(
      request({ random: (n) => Uint8Array.from({ length: n }, (_, at) => (at === n - 1 ? 1 : 0)) }),
    );
    expect(parseCertificate(low.certificateDer).serial).toBe('01');
    // Whoever looks for it by what a peer presents must find what was recorded.
    for (const { serial, certificateDer } of [high, low]) expect(serial).toBe(parseCertificate(certificateDer).serial);
    expect(new Set(Array.from({ length: 20 }, () => issueCertificate(request()).serial)).size).toBe(20);
  });

  it('cuts a common name of a long host id, since only the URI identifies', () => {
    const { certificateDer } = issueCertificate(
      request({ commonName: 'h'.repeat(128), uri: `spiffe://${trustDomain}/host/${'h'.repeat(128)}` }),
    );
    expect(new X509Certificate(certificateDer).subject).toBe(`CN=${'h'.repeat(64)}`);
    expect(parseCertificate(certificateDer).uris).toEqual([`spiffe://fleet.example/host/${'h'.repeat(128)}`]);
  });
});
