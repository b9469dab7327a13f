/** For tests: what a host with a listener asks for, and what an authority makes of it. */
import { createPrivateKey } from 'node:crypto';
import type { SecretBytes } from '@rollcall/core/keys';
import { type Authority, issueCertificate, listenerId, verifyCertificateRequest } from '@rollcall/x509';
import { makeListenerRequest } from './adapters/listener-key.ts';
import { host, random, trustDomain } from './fleet.fixture.ts';
import { type AskedCertificate, type ListenerCertificate, toListenerCertificate } from './state/listener-keys.ts';

export const HOUR_MS = 3_600_000;

export function newRequest(): AskedCertificate {
  return makeListenerRequest(host);
}

/** DER of the leaf; a good one but for what is changed. */
export function issueFor(
  csr: Uint8Array,
  authority: Authority,
  changes: Partial<Parameters<typeof issueCertificate>[0]> & { readonly nowMs: number },
): Uint8Array {
  return issueCertificate({
    authority,
    subjectPublicKey: verifyCertificateRequest(csr).spkiDer,
    commonName: host,
    uri: listenerId(trustDomain, host),
    usage: 'serverAuth',
    lifeMs: 24 * HOUR_MS,
    random,
    ...changes,
  }).certificateDer;
}

export function certified(authority: Authority, nowMs: number, life: number | null = 1): ListenerCertificate {
  const { privateKey, csr } = newRequest();
  return toListenerCertificate(privateKey, [issueFor(csr, authority, { nowMs })], life);
}

export function keyObjectOf(privateKey: SecretBytes<'listener-private'>) {
  return createPrivateKey({ key: Buffer.from(privateKey.reveal()), format: 'der', type: 'pkcs8' });
}
