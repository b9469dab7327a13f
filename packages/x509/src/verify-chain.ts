/** Follows a presented chain to a root of the trust bundle. Signatures and issuer rules; dates are told, not judged. */
import { X509Certificate } from 'node:crypto';
import { equalBytes } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { acceptedSignatures } from './algorithms.ts';
import { type ParsedCertificate, parseCertificate } from './parse-certificate.ts';
import { trustDomainId } from './spiffe-id.ts';

export interface ChainRequest {
  /** DER, leaf first, as the peer presented them. The root may be among them, and counts for nothing there. */
  readonly chain: readonly Uint8Array[];
  /** DER of the roots of this trust domain: the only anchors. Never the system's. */
  readonly bundle: readonly Uint8Array[];
  readonly trustDomain: string;
}

/** The path that was verified: leaf first, a root of the bundle last. */
export type VerifiedPath = readonly [leaf: ParsedCertificate, ...issuers: ParsedCertificate[]];

/** Why a chain is not taken. */
export type ChainReason =
  | 'no_certificate'
  | 'chain_too_long'
  | 'malformed'
  | 'bundle_empty'
  | 'bundle_malformed'
  | 'unknown_issuer'
  | 'issuer_not_authority'
  | 'issuer_path_length'
  | 'issuer_trust_domain'
  | 'signature_algorithm';

/** The path from the leaf to a root, or throws what `refuse` makes of the reason. */
export function verifyChain(
  request: ChainRequest,
  refuse: (reason: ChainReason, cause?: unknown) => Error,
): VerifiedPath {
  const { chain, bundle, trustDomain } = request;
  if (chain.length > limits.certificateChain) throw refuse('chain_too_long');
  const [first, ...rest] = chain;
  if (first === undefined) throw refuse('no_certificate');
  if (bundle.length === 0) throw refuse('bundle_empty');
  if (bundle.length > limits.trustBundleRoots) throw refuse('bundle_malformed');
  const roots = bundle.map((der) => readLink(der, (cause) => refuse('bundle_malformed', cause)));
  const leaf = readLink(first, (cause) => refuse('malformed', cause));

  const issuers: Link[] = [];
  for (let subject = leaf; ; ) {
    if (!acceptedSignatures.has(subject.parsed.signatureAlgorithm)) throw refuse('signature_algorithm');
    const root = roots.find((candidate) => isIssuedBy(subject, candidate));
    const der = rest[issuers.length];
    if (root === undefined && der === undefined) throw refuse('unknown_issuer');
    const issuer = root ?? readLink(der as Uint8Array, (cause) => refuse('malformed', cause));
    if (!isIssuedBy(subject, issuer)) throw refuse('unknown_issuer');
    assertAuthority(issuer.parsed, issuers.length, trustDomain, refuse);
    issuers.push(issuer);
    if (root !== undefined) return [leaf.parsed, ...issuers.map(({ parsed }) => parsed)];
    subject = issuer;
  }
}

/** Whether every certificate of the path is valid at `nowMs`. A missing or unreadable time is no time (I7). */
export function isWithinDates(path: VerifiedPath, nowMs: number): boolean {
  if (!Number.isSafeInteger(nowMs) || nowMs <= 0) return false;
  return path.every(({ notBeforeMs, notAfterMs }) => notBeforeMs <= nowMs && nowMs <= notAfterMs);
}

interface Link {
  readonly parsed: ParsedCertificate;
  readonly native: X509Certificate;
}

/** Read twice: strictly here for the rules, by OpenSSL for the signature. What either cannot read is refused. */
function readLink(der: Uint8Array, refuse: (cause: unknown) => Error): Link {
  try {
    return { parsed: parseCertificate(der), native: new X509Certificate(der) };
  } catch (cause) {
    throw refuse(isRollcallError(cause) ? cause : new RollcallError('malformed_certificate', { reason: 'not_der' }));
  }
}

/** Name, key id and signature. The names are compared byte for byte. */
function isIssuedBy(subject: Link, issuer: Link): boolean {
  const keyId = subject.parsed.authorityKeyId;
  if (!equalBytes(subject.parsed.issuerDer, issuer.parsed.subjectDer)) return false;
  if (keyId !== undefined && issuer.parsed.subjectKeyId !== undefined && !equalBytes(keyId, issuer.parsed.subjectKeyId))
    return false;
  return isSignedBy(subject.native, issuer.native);
}

/** `verify` throws for keys that OpenSSL cannot use at all; such a key has signed nothing. */
function isSignedBy(subject: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return subject.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

/** RFC 5280 §6.1.4 (k) to (n), and X509-SVID §4.1: an authority with an id carries that of its trust domain. */
function assertAuthority(
  issuer: ParsedCertificate,
  issuersBelow: number,
  trustDomain: string,
  refuse: (reason: ChainReason) => Error,
): void {
  if (!issuer.isCa || !issuer.critical.has('basicConstraints') || !issuer.keyUsage.has('keyCertSign'))
    throw refuse('issuer_not_authority');
  if (issuer.pathLength !== undefined && issuersBelow > issuer.pathLength) throw refuse('issuer_path_length');
  const isOfDomain = issuer.uris.every((uri) => uri === trustDomainId(trustDomain)) && issuer.uris.length <= 1;
  if (!isOfDomain) throw refuse('issuer_trust_domain');
}
