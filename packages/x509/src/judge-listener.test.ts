import { describe, expect, it } from 'vitest';
import {
  asIssuer,
  dayMs,
  type ForgeOptions,
  forge,
  generateKeyPair,
  makeAuthority,
  nowMs,
  random,
  spkiOf,
  trustDomain,
} from './forge.fixture.ts';
import { issueCertificate } from './issue-certificate.ts';
import { judgeListenerCertificate } from './judge-listener.ts';
import { basicConstraints, extendedKeyUsage, keyUsage, subjectAltName } from './sign-certificate.ts';
import { listenerId } from './spiffe-id.ts';

const root = makeAuthority();
const issuer = asIssuer(root);
const keys = generateKeyPair();
const request = { bundle: [root.certificateDer], trustDomain, host: 'agent-7', nowMs };

const BASIC = '2.5.29.19';
const USAGE = '2.5.29.15';
const PURPOSE = '2.5.29.37';
const NAMES = '2.5.29.17';

function issue(host = 'agent-7', changes: Partial<Parameters<typeof issueCertificate>[0]> = {}) {
  return issueCertificate({
    authority: root,
    subjectPublicKey: keys.publicKey,
    commonName: host,
    uri: listenerId(trustDomain, host),
    usage: 'serverAuth',
    nowMs,
    lifeMs: dayMs,
    random,
    ...changes,
  });
}

function refused(reason: string): unknown {
  return expect.objectContaining({ code: 'listener_untrusted', details: { reason } });
}

describe('judgeListenerCertificate', () => {
  it('takes the listener of exactly this host', () => {
    const { certificateDer, serial, notBeforeMs, notAfterMs } = issue();
    const judged = judgeListenerCertificate({ ...request, chain: [certificateDer] });
    expect(judged).toEqual({ serial, notBeforeMs, notAfterMs });
    const spkiDer = spkiOf(keys.publicKey);
    expect(judgeListenerCertificate({ ...request, chain: [certificateDer, root.certificateDer], spkiDer })).toEqual(
      judged,
    );
  });

  it.each<[string, string, Partial<ForgeOptions>]>([
    ['the hub', 'other_id', { replace: {} }],
    ['another host', 'other_id', names(listenerId(trustDomain, 'agent-12'))],
    ['a host that differs in case', 'other_id', names(listenerId(trustDomain, 'Agent-7'))],
    ['the host as a caller', 'other_id', names(`spiffe://${trustDomain}/host/agent-7`)],
    ['a longer path', 'other_id', names(`${listenerId(trustDomain, 'agent-7')}/x`)],
    ['a listener of another trust domain', 'other_id', names(listenerId('other.example', 'agent-7'))],
    ['no id', 'other_id', { replace: { [NAMES]: undefined } }],
    [
      'two ids',
      'several_ids',
      {
        replace: {
          [NAMES]: subjectAltName({ uris: [listenerId(trustDomain, 'agent-7'), listenerId(trustDomain, 'agent-12')] }),
        },
      },
    ],
    ['a caller’s certificate', 'extended_key_usage', mine({ [PURPOSE]: extendedKeyUsage('1.3.6.1.5.5.7.3.2') })],
    [
      'one for both sides',
      'extended_key_usage',
      mine({ [PURPOSE]: extendedKeyUsage('1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2') }),
    ],
    ['one for anything', 'extended_key_usage', mine({ [PURPOSE]: undefined })],
    ['an authority', 'leaf_is_authority', mine({ [BASIC]: basicConstraints({ isCa: true }) })],
    ['one that may sign', 'key_usage', mine({ [USAGE]: keyUsage('digitalSignature', 'keyCertSign') })],
    ['one without key usage', 'key_usage', mine({ [USAGE]: undefined })],
    ['one whose time is over', 'dates', { ...mine({}), parts: { notAfterMs: nowMs - 60_000 } }],
    ['one whose time is to come', 'dates', { ...mine({}), parts: { notBeforeMs: nowMs + 60_000 } }],
  ])('refuses %s', (_name, reason, options) => {
    const { der } = forge({ issuer, ...options });
    expect(() => judgeListenerCertificate({ ...request, chain: [der] })).toThrow(refused(reason));
  });

  it('refuses another authority, a key that is not asked for, and no certificate at all', () => {
    const stranger = makeAuthority();
    const { certificateDer } = issue();
    expect(() =>
      judgeListenerCertificate({ ...request, chain: [issue('agent-7', { authority: stranger }).certificateDer] }),
    ).toThrow(refused('unknown_issuer'));
    const spkiDer = spkiOf(generateKeyPair().publicKey);
    expect(() => judgeListenerCertificate({ ...request, chain: [certificateDer], spkiDer })).toThrow(
      refused('other_key'),
    );
    expect(() => judgeListenerCertificate({ ...request, chain: [] })).toThrow(refused('no_certificate'));
    expect(() => judgeListenerCertificate({ ...request, chain: [certificateDer], bundle: [] })).toThrow(
      refused('bundle_empty'),
    );
  });
});

function names(uri: string): Partial<ForgeOptions> {
  return { replace: { [NAMES]: subjectAltName({ uris: [uri] }) } };
}

function mine(replace: NonNullable<ForgeOptions['replace']>): Partial<ForgeOptions> {
  return { replace: { [NAMES]: subjectAltName({ uris: [listenerId(trustDomain, 'agent-7')] }), ...replace } };
}
