/** DHKEM(X25519, HKDF-SHA256) (RFC 9180 §4.1): agrees on a secret with whoever holds the private half of a public key. */
import type { KeyObject } from 'node:crypto';
import { concatBytes, utf8 } from '../bytes.ts';
import {
  agreeX25519,
  assertX25519Public,
  importX25519Private,
  importX25519Public,
  X25519_KEY_BYTES,
  x25519PublicKey,
} from '../keys/x25519.ts';
import { createLabeledKdf } from './labeled-kdf.ts';

/** Bytes of an encapsulated key. */
export const ENC_BYTES: number = X25519_KEY_BYTES;

/** RFC 9180 §7.1.3, DeriveKeyPair: 32 random bytes, or the `ikm` of a vector, to a private key. */
export function deriveX25519Private(ikm: Uint8Array): Uint8Array {
  if (ikm.length !== X25519_KEY_BYTES) throw new TypeError('deriveX25519Private: 32 random bytes are needed');
  return expandSk(extractDkpPrk(EMPTY, ikm));
}

/** Encap. `ikm` makes the ephemeral key: fresh random bytes, or those of a vector. */
export function encapsulate(
  recipient: { readonly bytes: Uint8Array; readonly keyObject: KeyObject },
  ikm: Uint8Array,
): { readonly enc: Uint8Array; readonly sharedSecret: Uint8Array } {
  const ephemeral = importX25519Private(deriveX25519Private(ikm));
  const enc = x25519PublicKey(ephemeral);
  const dh = agreeX25519(ephemeral, recipient.keyObject);
  return { enc, sharedSecret: extractAndExpand(dh, enc, recipient.bytes) };
}

/** Decap. Throws `malformed_key` for an encapsulated key that would not be taken as a public key either. */
export function decapsulate(privateKey: KeyObject, enc: Uint8Array): Uint8Array {
  assertX25519Public(enc);
  const dh = agreeX25519(privateKey, importX25519Public(enc));
  return extractAndExpand(dh, enc, x25519PublicKey(privateKey));
}

function extractAndExpand(dh: Uint8Array, enc: Uint8Array, recipient: Uint8Array): Uint8Array {
  return expandSharedSecret(extractEaePrk(EMPTY, dh), enc, recipient);
}

const EMPTY = new Uint8Array();
const kdf = createLabeledKdf(concatBytes(utf8('KEM'), Uint8Array.of(0x00, 0x20)));
const extractDkpPrk = kdf.extract('dkp_prk');
const expandSk = kdf.expand('sk', X25519_KEY_BYTES);
const extractEaePrk = kdf.extract('eae_prk');
const expandSharedSecret = kdf.expand('shared_secret', 32);
