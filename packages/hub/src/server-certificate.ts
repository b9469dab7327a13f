/**
 * The certificate of the TLS listeners: made at each start, and anew at half of its life, over a key that stays, since hosts know
 * the hub by the hash of that key. What is open stays open; who connects from then on is shown the new one (design 6).
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Log, Random } from '@rollcall/core/ports';
import { type Authority, hubId, type IssuedCertificate, issueCertificate } from '@rollcall/x509';
import type { HubClock } from './hub-clock.ts';

/** PEM. */
export interface ServerTls {
  readonly certificate: string;
  readonly key: string;
}

export interface ServerCertificate {
  readonly publicKey: KeyObject;
  /** What a listener that opens now is to show. */
  readonly tls: ServerTls;
  readonly endsAtMs: number;
  readonly authorityEndsAtMs: number;
  readonly hasEnded: boolean;
  /** Three quarters of its life are over: whatever should have renewed it did not. */
  readonly isLate: boolean;
  /** `show` is called with each new one. */
  follow(show: (tls: ServerTls) => void): void;
  /** Makes a new one when half of its life is over; once more each time it is asked, until that succeeds. */
  renewIfDue(): void;
}

export interface ServerCertificateParts {
  readonly authority: Authority;
  /** PKCS #8 DER. */
  readonly key: SecretBytes<'server'>;
  readonly names: { readonly dnsNames: readonly string[]; readonly ipAddresses: readonly string[] };
  readonly clock: HubClock;
  readonly random: Random;
  readonly log: Log;
}

export function createServerCertificate(parts: ServerCertificateParts): ServerCertificate {
  const { authority, clock, log } = parts;
  const privateKey = createPrivateKey({ key: Buffer.from(parts.key.reveal()), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const followers: ((tls: ServerTls) => void)[] = [];

  const issue = (): IssuedCertificate =>
    issueCertificate({
      authority,
      subjectPublicKey: publicKey,
      commonName: 'hub',
      uri: hubId(authority.trustDomain),
      ...parts.names,
      usage: 'serverAuth',
      nowMs: clock.now(),
      lifeMs: limits.serverCertificateLifeMs,
      random: parts.random,
    });
  let issued = issue();
  const tls = (): ServerTls => ({ certificate: issued.certificatePem, key });

  return {
    publicKey,
    get tls() {
      return tls();
    },
    get endsAtMs() {
      return issued.notAfterMs;
    },
    authorityEndsAtMs: authority.certificate.notAfterMs,
    get hasEnded() {
      return clock.now() >= issued.notAfterMs;
    },
    get isLate() {
      return shareOfLife(issued, clock.now()) >= 3 / 4;
    },
    follow: (show) => {
      followers.push(show);
    },
    renewIfDue: () => {
      const { nowMs, jumped } = clock.read();
      // While nobody knows what time it is, nothing is issued.
      if (jumped || !isDue(issued, authority, nowMs)) return;
      issued = issue();
      for (const show of followers) show(tls());
      log.info('the certificate of the listeners was renewed', { until: new Date(issued.notAfterMs).toISOString() });
    },
  };
}

/** Also where a person put the clock back to before it. Not where its issuer ends first: a new one would live no longer. */
function isDue(issued: IssuedCertificate, authority: Authority, nowMs: number): boolean {
  if (nowMs < issued.notBeforeMs) return true;
  const endsMs = Math.min(nowMs + limits.serverCertificateLifeMs, authority.certificate.notAfterMs);
  return shareOfLife(issued, nowMs) >= 1 / 2 && endsMs > issued.notAfterMs;
}

function shareOfLife({ notBeforeMs, notAfterMs }: IssuedCertificate, nowMs: number): number {
  return (nowMs - notBeforeMs) / (notAfterMs - notBeforeMs);
}
