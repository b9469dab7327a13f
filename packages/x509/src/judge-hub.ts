/** An agent's judgement of the peer that says it is the hub. Made after the handshake and before any byte is sent (design 2). */
import { equalBytes } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { assertLeaf, type LeafReason } from './assert-leaf.ts';
import { type ParsedCertificate, parseCertificate } from './parse-certificate.ts';
import { hubId } from './spiffe-id.ts';
import { type ChainReason, type ChainRequest, isWithinDates, verifyChain } from './verify-chain.ts';

export type HubUntrustedReason = ChainReason | Exclude<LeafReason, 'other_id'> | 'not_the_hub' | 'dates' | 'other_key';

export interface JudgedHub {
  /** SHA-256 of the SubjectPublicKeyInfo of the leaf. */
  readonly spki: Uint8Array;
  /** False where a known key stood in for dates that this clock does not bear out: the clock is the question then. */
  readonly datesTrusted: boolean;
}

/**
 * The hub, or `hub_untrusted` with `details.reason` (design 3, 6): chained to a root of the bundle always, exactly
 * `spiffe://<trust domain>/hub`, serverAuth, and valid at `nowMs`. A key of `knownSpki` (SHA-256 of SPKI, from a signed
 * statement) may stand in for the dates, and for nothing else (design 11).
 */
export function judgeHubCertificate(
  request: ChainRequest & { readonly knownSpki: readonly Uint8Array[]; readonly nowMs: number },
): JudgedHub {
  const path = verifyChain(request, untrusted);
  const [leaf] = path;
  assertLeaf(leaf, { id: hubId(request.trustDomain), usage: 'serverAuth' }, (reason) =>
    untrusted(reason === 'other_id' ? 'not_the_hub' : reason),
  );
  const datesTrusted = isWithinDates(path, request.nowMs);
  if (!datesTrusted && !isAmong(leaf.spkiSha256, request.knownSpki)) throw untrusted('dates');
  return { spki: leaf.spkiSha256, datesTrusted };
}

/**
 * First contact (design 11): the leaf's key is one that the enrolment token or hub-root file names, or `hub_untrusted`.
 * The handshake has proven that the peer holds the key; nothing else of the certificate is believed.
 */
export function judgeHubSpki(request: { readonly leaf: Uint8Array; readonly spki: readonly Uint8Array[] }): {
  readonly spki: Uint8Array;
} {
  const { spkiSha256 } = parseLeaf(request.leaf);
  if (!isAmong(spkiSha256, request.spki)) throw untrusted('other_key');
  return { spki: spkiSha256 };
}

function parseLeaf(der: Uint8Array): ParsedCertificate {
  try {
    return parseCertificate(der);
  } catch (error) {
    throw isRollcallError(error) ? untrusted('malformed', error) : error;
  }
}

function isAmong(digest: Uint8Array, known: readonly Uint8Array[]): boolean {
  return known.some((candidate) => equalBytes(candidate, digest));
}

function untrusted(reason: HubUntrustedReason, cause?: unknown): RollcallError<'hub_untrusted'> {
  return new RollcallError('hub_untrusted', { reason }, { cause });
}
