/** X25519 over raw keys: import through JWK (a tenth of the cost of DER, design 2), agreement that refuses an all-zero result. */
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';
import { encodeBase64url } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { isBelowPrime } from './field25519.ts';

export const X25519_KEY_BYTES = 32;

export function importX25519Private(bytes: Uint8Array): KeyObject {
  if (bytes.length !== X25519_KEY_BYTES) throw new RollcallError('malformed_key');
  // Node wants an `x` and ignores it: the public half is computed from `d`, so an empty one cannot lie.
  return createPrivateKey({ key: { kty: 'OKP', crv: 'X25519', d: encodeBase64url(bytes), x: '' }, format: 'jwk' });
}

/** Imports what `assertX25519Public` took. */
export function importX25519Public(bytes: Uint8Array): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: encodeBase64url(bytes) }, format: 'jwk' });
}

/** The public half of an imported private key. */
export function x25519PublicKey(privateKey: KeyObject): Uint8Array {
  return new Uint8Array(Buffer.from(privateKey.export({ format: 'jwk' }).x as string, 'base64url'));
}

/** Throws `malformed_key` unless the bytes are the one text of a point that an agreement with means something. */
export function assertX25519Public(bytes: Uint8Array): void {
  if (bytes.length !== X25519_KEY_BYTES || !isCanonical(bytes) || LOW_ORDER.has(Buffer.from(bytes).toString('hex'))) {
    throw new RollcallError('malformed_key');
  }
}

/** The shared secret; throws `malformed_key` when it is all zero (RFC 9180 §7.1.4). */
export function agreeX25519(privateKey: KeyObject, publicKey: KeyObject): Uint8Array {
  let shared: Buffer;
  try {
    shared = diffieHellman({ privateKey, publicKey });
  } catch (cause) {
    // OpenSSL 3 refuses a zero result by itself, with an error that is not one of ours.
    throw new RollcallError('malformed_key', {}, { cause });
  }
  if (shared.equals(ZERO)) throw new RollcallError('malformed_key');
  return shared;
}

const ZERO = new Uint8Array(X25519_KEY_BYTES);

/** RFC 7748 §5 masks the top bit and reduces; a key with two texts would have two fingerprints. */
function isCanonical(bytes: Uint8Array): boolean {
  return (bytes[31] as number) < 0x80 && isBelowPrime(bytes);
}

/** The u of every point of low order on the curve and on its twist; any private key takes all of them to zero. */
const LOW_ORDER: ReadonlySet<string> = new Set([
  '00'.repeat(32), // order 2 on both
  `01${'00'.repeat(31)}`, // order 4 on the curve
  `ec${'ff'.repeat(30)}7f`, // order 4 on the twist
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800', // order 8
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157', // order 8
]);
