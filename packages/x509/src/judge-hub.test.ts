import { describe, expect, it } from 'vitest';
import {
  asIssuer,
  dayMs,
  type ForgeOptions,
  forge,
  forgeIntermediate,
  generateKeyPair,
  makeAuthority,
  nowMs,
  random,
  sha256,
  spkiOf,
  trustDomain,
} from './forge.fixture.ts';
import { issueCertificate } from './issue-certificate.ts';
import { judgeHubCertificate, judgeHubSpki } from './judge-hub.ts';
import { basicConstraints, extendedKeyUsage, keyUsage, subjectAltName } from './sign-certificate.ts';

const root = makeAuthority();
const issuer = asIssuer(root);
const hubKeys = generateKeyPair();
const hub = issueCertificate({
  authority: root,
  subjectPublicKey: hubKeys.publicKey,
  commonName: 'hub',
  uri: `spiffe://${trustDomain}/hub`,
  dnsNames: ['localhost'],
  ipAddresses: ['127.0.0.1'],
  usage: 'serverAuth',
  nowMs,
  lifeMs: dayMs,
  random,
}).certificateDer;
const hubSpki = sha256(spkiOf(hubKeys.publicKey));
const request = { bundle: [root.certificateDer], trustDomain, knownSpki: [], nowMs };

const BASIC = '2.5.29.19';
const USAGE = '2.5.29.15';
const PURPOSE = '2.5.29.37';
const NAMES = '2.5.29.17';

function refused(reason: string): unknown {
  return expect.objectContaining({ code: 'hub_untrusted', details: { reason } });
}

describe('judgeHubCertificate', () => {
  it('takes the hub, directly below a root or below an intermediate', () => {
    expect(judgeHubCertificate({ ...request, chain: [hub] })).toEqual({ spki: hubSpki, datesTrusted: true });
    const middle = forgeIntermediate({ issuer });
    const leaf = forge({ issuer: { ...middle, keyId: undefined }, keys: hubKeys });
    expect(judgeHubCertificate({ ...request, chain: [leaf.der, middle.der] })).toEqual({
      spki: hubSpki,
      datesTrusted: true,
    });
  });

  it('takes a chain that repeats the root, and one of several roots', () => {
    expect(judgeHubCertificate({ ...request, chain: [hub, root.certificateDer] }).spki).toEqual(hubSpki);
    const other = makeAuthority();
    expect(
      judgeHubCertificate({ ...request, chain: [hub], bundle: [other.certificateDer, root.certificateDer] }).spki,
    ).toEqual(hubSpki);
  });

  it.each<[string, string, Omit<ForgeOptions, 'issuer'>]>([
    [
      'a host of the fleet',
      'not_the_hub',
      { replace: { [NAMES]: subjectAltName({ uris: [`spiffe://${trustDomain}/host/hub`] }) } },
    ],
    ['a replica', 'not_the_hub', { replace: { [NAMES]: subjectAltName({ uris: [`spiffe://${trustDomain}/hub/1`] }) } }],
    [
      'a longer path',
      'not_the_hub',
      { replace: { [NAMES]: subjectAltName({ uris: [`spiffe://${trustDomain}/hubs`] }) } },
    ],
    [
      'other letters',
      'not_the_hub',
      { replace: { [NAMES]: subjectAltName({ uris: [`spiffe://${trustDomain}/Hub`] }) } },
    ],
    [
      'another trust domain',
      'not_the_hub',
      { replace: { [NAMES]: subjectAltName({ uris: ['spiffe://other.example/hub'] }) } },
    ],
    [
      'no URI but the name in DNS',
      'not_the_hub',
      { replace: { [NAMES]: subjectAltName({ uris: [], dnsNames: ['hub.example'] }) } },
    ],
    ['no names at all', 'not_the_hub', { replace: { [NAMES]: undefined } }],
    [
      'two URIs',
      'several_ids',
      {
        replace: {
          [NAMES]: subjectAltName({ uris: [`spiffe://${trustDomain}/hub`, `spiffe://${trustDomain}/host/a`] }),
        },
      },
    ],
    [
      'the same URI twice',
      'several_ids',
      {
        replace: { [NAMES]: subjectAltName({ uris: [`spiffe://${trustDomain}/hub`, `spiffe://${trustDomain}/hub`] }) },
      },
    ],
    ['two SAN extensions', 'malformed', { add: [subjectAltName({ uris: [`spiffe://${trustDomain}/host/a`] })] }],
    ['an authority', 'leaf_is_authority', { replace: { [BASIC]: basicConstraints({ isCa: true }) } }],
    ['no basic constraints', 'leaf_is_authority', { replace: { [BASIC]: undefined } }],
    [
      'basic constraints that are not critical',
      'leaf_is_authority',
      { replace: { [BASIC]: { ...basicConstraints({ isCa: false }), critical: false } } },
    ],
    [
      'keyCertSign beside digitalSignature',
      'key_usage',
      { replace: { [USAGE]: keyUsage('digitalSignature', 'keyCertSign') } },
    ],
    ['cRLSign beside digitalSignature', 'key_usage', { replace: { [USAGE]: keyUsage('digitalSignature', 'cRLSign') } }],
    ['no digitalSignature', 'key_usage', { replace: { [USAGE]: keyUsage('keyAgreement') } }],
    ['no key usage', 'key_usage', { replace: { [USAGE]: undefined } }],
    [
      'key usage that is not critical',
      'key_usage',
      { replace: { [USAGE]: { ...keyUsage('digitalSignature'), critical: false } } },
    ],
    ['clientAuth', 'extended_key_usage', { replace: { [PURPOSE]: extendedKeyUsage('1.3.6.1.5.5.7.3.2') } }],
    [
      'both uses',
      'extended_key_usage',
      { replace: { [PURPOSE]: extendedKeyUsage('1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2') } },
    ],
    ['any use', 'extended_key_usage', { replace: { [PURPOSE]: extendedKeyUsage('2.5.29.37.0') } }],
    ['no extended key usage', 'extended_key_usage', { replace: { [PURPOSE]: undefined } }],
    [
      'an unknown critical extension',
      'malformed',
      { add: [{ oid: '1.3.6.1.4.1.99999.1', critical: true, value: Uint8Array.of(5, 0) }] },
    ],
    ['dates that have passed', 'dates', { parts: { notAfterMs: nowMs - 1_000 } }],
    ['dates still to come', 'dates', { parts: { notBeforeMs: nowMs + 1_000 } }],
  ])('refuses %s', (_, reason, options) => {
    expect(judgeHubCertificate({ ...request, chain: [forge({ issuer }).der] }).datesTrusted).toBe(true);
    expect(() => judgeHubCertificate({ ...request, chain: [forge({ issuer, ...options }).der] })).toThrow(
      refused(reason),
    );
  });

  it('lets an unknown extension pass that is not critical', () => {
    const leaf = forge({ issuer, add: [{ oid: '1.3.6.1.4.1.99999.1', critical: false, value: Uint8Array.of(5, 0) }] });
    expect(judgeHubCertificate({ ...request, chain: [leaf.der] }).datesTrusted).toBe(true);
  });

  describe('whose key is known', () => {
    const expired = forge({ issuer, keys: hubKeys, parts: { notAfterMs: nowMs - 1_000 } }).der;

    it('lets the key stand in for the dates', () => {
      expect(judgeHubCertificate({ ...request, chain: [expired], knownSpki: [random(32), hubSpki] })).toEqual({
        spki: hubSpki,
        datesTrusted: false,
      });
      expect(judgeHubCertificate({ ...request, chain: [hub], knownSpki: [hubSpki], nowMs: 1 }).datesTrusted).toBe(
        false,
      );
      expect(
        judgeHubCertificate({ ...request, chain: [hub], knownSpki: [hubSpki], nowMs: Date.parse('2045-01-01') })
          .datesTrusted,
      ).toBe(false);
      expect(judgeHubCertificate({ ...request, chain: [hub], knownSpki: [hubSpki] }).datesTrusted).toBe(true);
    });

    it('does not take another key, part of the key, or none', () => {
      for (const knownSpki of [[], [random(32)], [hubSpki.subarray(0, 31)], [new Uint8Array(0)]]) {
        expect(() => judgeHubCertificate({ ...request, chain: [expired], knownSpki })).toThrow(refused('dates'));
      }
    });

    it.each<[string, string, Uint8Array, Partial<typeof request>]>([
      ['the chain', 'unknown_issuer', hub, { bundle: [makeAuthority().certificateDer] }],
      ['an empty bundle', 'bundle_empty', hub, { bundle: [] }],
      ['the id', 'not_the_hub', hub, { trustDomain: 'fleet.example.org' }],
      [
        'the use',
        'extended_key_usage',
        forge({ issuer, keys: hubKeys, replace: { [PURPOSE]: extendedKeyUsage('1.3.6.1.5.5.7.3.2') } }).der,
        {},
      ],
      [
        'the signature',
        'unknown_issuer',
        forge({ issuer: { ...issuer, privateKey: hubKeys.privateKey }, keys: hubKeys }).der,
        {},
      ],
    ])('does not let it stand in for %s', (_, reason, leaf, changes) => {
      expect(judgeHubCertificate({ ...request, chain: [expired], knownSpki: [hubSpki] }).datesTrusted).toBe(false);
      const domainFirst = changes.trustDomain === undefined ? reason : 'issuer_trust_domain';
      expect(() =>
        judgeHubCertificate({ ...request, ...changes, chain: [leaf], knownSpki: [hubSpki as never] }),
      ).toThrow(refused(domainFirst));
    });
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('takes the time %s for none', (at) => {
    expect(() => judgeHubCertificate({ ...request, chain: [hub], nowMs: at })).toThrow(refused('dates'));
  });

  it('takes the last second of a certificate, and not the next', () => {
    const notAfterMs = Math.floor((nowMs + 5_000) / 1_000) * 1_000;
    const leaf = forge({ issuer, parts: { notAfterMs } }).der;
    expect(judgeHubCertificate({ ...request, chain: [leaf], nowMs: notAfterMs }).datesTrusted).toBe(true);
    expect(() => judgeHubCertificate({ ...request, chain: [leaf], nowMs: notAfterMs + 1 })).toThrow(refused('dates'));
  });

  describe('chain', () => {
    it('ends at a root of the bundle, whatever the peer sends', () => {
      const impostor = makeAuthority();
      const leaf = forge({ issuer: asIssuer(impostor) }).der;
      expect(() => judgeHubCertificate({ ...request, chain: [leaf, impostor.certificateDer] })).toThrow(
        refused('unknown_issuer'),
      );
      expect(judgeHubCertificate({ ...request, chain: [leaf], bundle: [impostor.certificateDer] }).datesTrusted).toBe(
        true,
      );
    });

    it('does not take the name of the root for its signature', () => {
      const leaf = forge({ issuer: { ...issuer, privateKey: generateKeyPair().privateKey } }).der;
      expect(() => judgeHubCertificate({ ...request, chain: [leaf] })).toThrow(refused('unknown_issuer'));
    });

    it('does not take a signature for the name', () => {
      const leaf = forge({ issuer: { ...issuer, subjectDer: forge({ issuer, commonName: 'Other' }).subjectDer } }).der;
      expect(() => judgeHubCertificate({ ...request, chain: [leaf] })).toThrow(refused('unknown_issuer'));
    });

    it('takes no certificate that a leaf of the fleet signed', () => {
      const host = forge({ issuer, commonName: 'agent-7' });
      const leaf = forge({ issuer: { ...host, keyId: undefined } }).der;
      expect(() => judgeHubCertificate({ ...request, chain: [leaf, host.der] })).toThrow(
        refused('issuer_not_authority'),
      );
      const alsoBundled = { ...request, bundle: [root.certificateDer, host.der] };
      expect(() => judgeHubCertificate({ ...alsoBundled, chain: [leaf] })).toThrow(refused('issuer_not_authority'));
    });

    it.each<[string, string, Parameters<typeof forgeIntermediate>[0]]>([
      ['is no authority', 'issuer_not_authority', { issuer, replace: { [BASIC]: basicConstraints({ isCa: false }) } }],
      [
        'says so without stress',
        'issuer_not_authority',
        { issuer, replace: { [BASIC]: { ...basicConstraints({ isCa: true }), critical: false } } },
      ],
      [
        'may not sign',
        'issuer_not_authority',
        { issuer, replace: { [USAGE]: keyUsage('digitalSignature', 'cRLSign') } },
      ],
      ['says nothing of its use', 'issuer_not_authority', { issuer, replace: { [USAGE]: undefined } }],
      [
        'is of another trust domain',
        'issuer_trust_domain',
        { issuer, replace: { [NAMES]: subjectAltName({ uris: ['spiffe://other.example'] }) } },
      ],
      [
        'is a host',
        'issuer_trust_domain',
        { issuer, replace: { [NAMES]: subjectAltName({ uris: [`spiffe://${trustDomain}/host/a`] }) } },
      ],
      [
        'is constrained in names',
        'malformed',
        { issuer, add: [{ oid: '2.5.29.30', critical: false, value: Uint8Array.of(0x30, 0) }] },
      ],
      ['has expired', 'dates', { issuer, parts: { notAfterMs: nowMs - 1_000 } }],
    ])('refuses an intermediate that %s', (_, reason, options) => {
      const below = (middle: ReturnType<typeof forge>): Uint8Array =>
        forge({ issuer: { ...middle, keyId: undefined } }).der;
      const good = forgeIntermediate({ issuer });
      expect(judgeHubCertificate({ ...request, chain: [below(good), good.der] }).datesTrusted).toBe(true);
      const bad = forgeIntermediate(options);
      expect(() => judgeHubCertificate({ ...request, chain: [below(bad), bad.der] })).toThrow(refused(reason));
    });

    it('counts the authorities below one that bounds them', () => {
      const outer = forgeIntermediate({ issuer, pathLength: 1, commonName: 'outer' });
      const inner = forgeIntermediate({ issuer: { ...outer, keyId: undefined }, pathLength: 0, commonName: 'inner' });
      const leaf = forge({ issuer: { ...inner, keyId: undefined } }).der;
      expect(judgeHubCertificate({ ...request, chain: [leaf, inner.der, outer.der] }).datesTrusted).toBe(true);
      const deeper = forgeIntermediate({ issuer: { ...inner, keyId: undefined }, commonName: 'deeper' });
      const low = forge({ issuer: { ...deeper, keyId: undefined } }).der;
      expect(() => judgeHubCertificate({ ...request, chain: [low, deeper.der, inner.der, outer.der] })).toThrow(
        refused('issuer_path_length'),
      );
    });

    it('refuses an intermediate that is missing, or in another order', () => {
      const middle = forgeIntermediate({ issuer });
      const leaf = forge({ issuer: { ...middle, keyId: undefined } }).der;
      expect(judgeHubCertificate({ ...request, chain: [leaf, middle.der] }).datesTrusted).toBe(true);
      expect(() => judgeHubCertificate({ ...request, chain: [leaf] })).toThrow(refused('unknown_issuer'));
      expect(() => judgeHubCertificate({ ...request, chain: [leaf, hub, middle.der] })).toThrow(
        refused('unknown_issuer'),
      );
      expect(() => judgeHubCertificate({ ...request, chain: [middle.der, leaf] })).toThrow(
        refused('leaf_is_authority'),
      );
    });

    it('refuses key ids that do not fit', () => {
      const leaf = forge({ issuer: { ...issuer, keyId: random(20) } }).der;
      expect(() => judgeHubCertificate({ ...request, chain: [leaf] })).toThrow(refused('unknown_issuer'));
    });

    it.each([
      ['nothing', 'no_certificate', []],
      ['noise', 'malformed', [random(100)]],
      ['more than a chain', 'chain_too_long', Array.from({ length: 6 }, () => hub)],
    ] as const)('refuses %s', (_, reason, chain) => {
      expect(() => judgeHubCertificate({ ...request, chain })).toThrow(refused(reason));
    });

    it('does not read around a root that it cannot read (I10)', () => {
      expect(() =>
        judgeHubCertificate({ ...request, chain: [hub], bundle: [root.certificateDer, random(100)] }),
      ).toThrow(refused('bundle_malformed'));
    });
  });
});

describe('judgeHubSpki', () => {
  it('takes a key that the token names, whatever else the certificate says', () => {
    const expired = forge({
      issuer: asIssuer(makeAuthority()),
      keys: hubKeys,
      parts: { notAfterMs: nowMs - 1_000 },
    }).der;
    expect(judgeHubSpki({ leaf: hub, spki: [random(32), hubSpki] })).toEqual({ spki: hubSpki });
    expect(judgeHubSpki({ leaf: expired, spki: [hubSpki] })).toEqual({ spki: hubSpki });
  });

  it.each([
    ['another key', [random(32)]],
    ['none', []],
    ['an empty hash', [new Uint8Array(0)]],
    ['the hash of the whole certificate', [sha256(hub)]],
  ])('refuses %s', (_, spki) => {
    expect(() => judgeHubSpki({ leaf: hub, spki })).toThrow(refused('other_key'));
  });

  it('refuses what is no certificate', () => {
    expect(() => judgeHubSpki({ leaf: random(200), spki: [hubSpki] })).toThrow(refused('malformed'));
  });
});
