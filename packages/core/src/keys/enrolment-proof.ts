/** Proof of an enrolment secret: binds the host, its wrap key, its certificate request and its instance (design 3 and 11). */
import { timingSafeEqual } from 'node:crypto';
import { concatBytes, joinNul, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { hkdfExpand } from './hkdf-sha256.ts';
import { parseHostId } from './names.ts';
import { revealAs, type SecretBytes } from './secret-bytes.ts';
import { hmacSha256, SHA256_BYTES, sha256 } from './sha256.ts';
import { X25519_KEY_BYTES } from './x25519.ts';

export const ENROLMENT_SECRET_BYTES = 32;
export const INSTANCE_BYTES = 16;

/** What a certificate is asked for: to call the hub, or to be called. */
export type CsrUse = 'client' | 'listener';

/** All that an enrolment proof binds. A request for a certificate comes with its use. */
export type EnrolmentClaim = {
  readonly host: string;
  /** The published wrap key, raw. */
  readonly wrapPublic: Uint8Array;
  /** 16 random bytes of this start of the agent. */
  readonly instance: Uint8Array;
} & ({ readonly csr: Uint8Array; readonly csrUse: CsrUse } | { readonly csr?: undefined; readonly csrUse?: undefined });

/** K = HKDF-Expand(secret, "rollcall/enrol/v1", 32): what the hub keeps instead of the secret. */
export function enrolmentKey(secret: Uint8Array | SecretBytes<'enrolment'>): Uint8Array {
  const bytes = revealAs('enrolment', secret);
  if (bytes.length !== ENROLMENT_SECRET_BYTES) throw new TypeError('enrolmentKey: secret must be 32 bytes');
  return hkdfExpand(bytes, SHA256_BYTES, utf8('rollcall/enrol/v1'));
}

/** HMAC-SHA256(K, "rollcall/enrol-proof/v1" 0 host 0 wrapKey 0 SHA-256(csr or empty) [use] 0 instance). */
export function enrolmentProof(key: Uint8Array, claim: EnrolmentClaim): Uint8Array {
  assertBytes('key', key, SHA256_BYTES);
  assertBytes('wrapPublic', claim.wrapPublic, X25519_KEY_BYTES);
  assertBytes('instance', claim.instance, INSTANCE_BYTES);
  const request = claim.csr === undefined ? sha256(new Uint8Array()) : csrBinding(claim.csr, claim.csrUse);
  const host = parseHostId(claim.host);
  return hmacSha256(key, joinNul('rollcall/enrol-proof/v1', host, claim.wrapPublic, request, claim.instance));
}

/** The claim that is proven; throws `unauthenticated`. */
export function verifyEnrolmentProof(key: Uint8Array, claim: EnrolmentClaim, proof: Uint8Array): EnrolmentClaim {
  const expected = enrolmentProof(key, claim);
  if (proof.length !== expected.length || !timingSafeEqual(proof, expected)) throw new RollcallError('unauthenticated');
  return claim;
}

/** SHA-256(csr) followed by the use: how a request is bound here and in a challenge's context (design 11). */
export function csrBinding(csr: Uint8Array, use: CsrUse): Uint8Array {
  if (csr.length === 0) throw new TypeError('csr is empty');
  if (use !== 'client' && use !== 'listener') throw new TypeError('a csr needs a use');
  return concatBytes(sha256(csr), utf8(use));
}

function assertBytes(name: string, bytes: Uint8Array, length: number): void {
  if (bytes.length !== length) throw new TypeError(`enrolmentProof: ${name} must be ${length} bytes`);
}
