/** Ed25519 over raw keys. Public keys of small order are refused: under one of them a single signature fits every message. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { encodeBase64url } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { isBelowPrime } from './field25519.ts';

export const ED25519_KEY_BYTES = 32;
export const ED25519_SIGNATURE_BYTES = 64;

/** The private key of a 32-byte seed (RFC 8032 §5.1.5). */
export function importEd25519Seed(seed: Uint8Array): KeyObject {
  if (seed.length !== ED25519_KEY_BYTES) throw new RollcallError('malformed_key');
  // Node wants an `x` and ignores it: the public half is computed from the seed, so an empty one cannot lie.
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d: encodeBase64url(seed), x: '' }, format: 'jwk' });
}

/** The public half of a seed or of its imported key. */
export function ed25519PublicKey(key: Uint8Array | KeyObject): Uint8Array {
  const { x } = (key instanceof Uint8Array ? importEd25519Seed(key) : key).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x as string, 'base64url'));
}

/**
 * The same bytes, once they are known to be a usable public key; throws `malformed_key`. OpenSSL would take a y of p or
 * more, so that one point had two texts, and points of small order.
 */
export function parseEd25519PublicKey(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== ED25519_KEY_BYTES || !isBelowPrime(bytes) || isSmallOrder(bytes)) {
    throw new RollcallError('malformed_key');
  }
  return bytes;
}

export function signEd25519(key: KeyObject, message: Uint8Array): Uint8Array {
  // OpenSSL would as readily sign with any other kind of key.
  if (key.asymmetricKeyType !== 'ed25519' || key.type !== 'private')
    throw new TypeError('an Ed25519 private key is needed');
  return new Uint8Array(sign(null, message, key));
}

/** Returns the message that was signed; throws `bad_signature`, or `malformed_key` for a key that nothing verifies under. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Uint8Array {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(parseEd25519PublicKey(publicKey)) };
  if (!verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature)) {
    throw new RollcallError('bad_signature');
  }
  return message;
}

/** The y of the eight points whose order divides the cofactor. Both signs of x count. */
const SMALL_ORDER_Y: ReadonlySet<string> = new Set([
  `01${'00'.repeat(31)}`, // order 1
  `ec${'ff'.repeat(30)}7f`, // order 2
  '00'.repeat(32), // order 4
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', // order 8
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', // order 8
]);

function isSmallOrder(bytes: Uint8Array): boolean {
  const y = Buffer.from(bytes);
  y[31] = (y[31] as number) & 0x7f; // the top bit is the sign of x
  return SMALL_ORDER_Y.has(y.toString('hex'));
}
