/** Issues the certificate of a hub, a listener or a host: the table of design 6, and nothing that the caller could widen. */
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { RollcallError } from '@rollcall/core/errors';
import type { Random } from '@rollcall/core/ports';
import { type Authority, exportSpki } from './create-authority.ts';
import { type CertificateUsage, usageOids } from './extensions.ts';
import { parseCertificate } from './parse-certificate.ts';
import { encodeCertificatePem } from './pem.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  encodeCommonName,
  extendedKeyUsage,
  keyUsage,
  randomSerial,
  signCertificate,
  subjectAltName,
  subjectKeyIdentifier,
} from './sign-certificate.ts';
import { parseSpiffeId } from './spiffe-id.ts';
import { backdated, wholeSeconds } from './validity.ts';

export interface CertificateRequest {
  readonly authority: Authority;
  /** A P-256 or P-384 key, or its SubjectPublicKeyInfo in DER. */
  readonly subjectPublicKey: KeyObject | Uint8Array;
  /** For people. Cut to 64 characters. */
  readonly commonName: string;
  /** A SPIFFE id with a path, in the authority's trust domain. */
  readonly uri: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usage: CertificateUsage;
  readonly nowMs: number;
  readonly lifeMs: number;
  /** What it must live at least, where its issuer ends before `lifeMs` is over. */
  readonly minLifeMs?: number;
  /** How much before `nowMs` it is to be valid: for a host whose clock is behind. Never less than the usual. */
  readonly backdateMs?: number;
  readonly random: Random;
}

export interface IssuedCertificate {
  readonly certificateDer: Uint8Array;
  readonly certificatePem: string;
  /** Lower-case hex. */
  readonly serial: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Whether it lives shorter than was asked, because its issuer does: worth a warning. */
  readonly clamped: boolean;
}

/** A leaf. Errors: `malformed_spiffe_id`, `malformed_certificate` (names), `unusable_subject_key`, `unusable_authority`. */
export function issueCertificate(request: CertificateRequest): IssuedCertificate {
  const { authority, nowMs } = request;
  const issuer = authority.certificate;
  assertIdentity(request.uri, authority.trustDomain);
  if (nowMs < issuer.notBeforeMs || nowMs >= issuer.notAfterMs)
    throw new RollcallError('unusable_authority', { reason: 'dates' });
  const askedMs = wholeSeconds(nowMs + request.lifeMs);
  if (askedMs <= nowMs) throw new TypeError('issueCertificate: lifeMs is not a life');
  const notAfterMs = Math.min(askedMs, issuer.notAfterMs);
  const clamped = notAfterMs < askedMs;
  if (clamped && notAfterMs - nowMs < (request.minLifeMs ?? 0))
    throw new RollcallError('unusable_authority', {
      reason: 'too_little_life',
      endsAt: new Date(issuer.notAfterMs).toISOString(),
    });
  const notBeforeMs = Math.max(backdated(nowMs, request.backdateMs), issuer.notBeforeMs);
  const spkiDer = exportSpki(request.subjectPublicKey);
  const serial = randomSerial(request.random);
  if (issuer.subjectKeyId === undefined) throw new RollcallError('unusable_authority', { reason: 'no_key_id' });
  const certificateDer = signCertificate(
    {
      serial,
      issuerDer: issuer.subjectDer,
      subjectDer: encodeCommonName(request.commonName),
      notBeforeMs,
      notAfterMs,
      spkiDer,
      extensions: [
        basicConstraints({ isCa: false }),
        keyUsage('digitalSignature'),
        extendedKeyUsage(usageOids[request.usage]),
        authorityKeyIdentifier(issuer.subjectKeyId),
        subjectKeyIdentifier(spkiDer),
        subjectAltName({
          uris: [request.uri],
          dnsNames: (request.dnsNames ?? []).map(checkedDnsName),
          ipAddresses: (request.ipAddresses ?? []).map(canonicalAddress),
        }),
      ],
    },
    authority.privateKey,
  );
  const certificatePem = encodeCertificatePem(certificateDer);
  return {
    certificateDer,
    certificatePem,
    // As whoever is presented the certificate reads it: without the zeros that an INTEGER drops (X.690 §8.3.2).
    serial: parseCertificate(certificateDer).serial,
    notBeforeMs,
    notAfterMs,
    clamped,
  };
}

/** An authority speaks for its own trust domain only, and no leaf carries the id of the domain itself. */
function assertIdentity(uri: string, trustDomain: string): void {
  const id = parseSpiffeId(uri);
  if (id.trustDomain !== trustDomain || id.path === '') throw new RollcallError('malformed_spiffe_id');
}

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const DNS_NAME_CHARACTERS = 253;

/** Plain host names (RFC 1123). No wildcard: a certificate speaks for one hub. */
function checkedDnsName(name: string): string {
  const lower = name.toLowerCase();
  const isName = lower.length <= DNS_NAME_CHARACTERS && lower.split('.').every((label) => DNS_LABEL.test(label));
  if (!isName || isIP(name) !== 0) throw new RollcallError('malformed_certificate', { reason: 'dns_name' });
  return lower;
}

/** The one text of an address that the encoder takes: IPv6 without zone, dotted quads or capitals (RFC 5952). */
function canonicalAddress(address: string): string {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) throw new RollcallError('malformed_certificate', { reason: 'ip_address' });
  return version === 4 ? address : new URL(`http://[${address}]/`).hostname.slice(1, -1);
}
