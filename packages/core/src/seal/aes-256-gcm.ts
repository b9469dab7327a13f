/** AES-256-GCM with a 12-byte nonce and a 16-byte tag after the ciphertext, and nothing else. */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { concatBytes } from '../bytes.ts';

export const AEAD_KEY_BYTES = 32;
export const AEAD_NONCE_BYTES = 12;
const AEAD_TAG_BYTES = 16;

/** Without it Node takes tags cut to 4, 8, 12, 13, 14 and 15 bytes: 2^32 tries instead of 2^128 (design 4). */
const OPTIONS = { authTagLength: AEAD_TAG_BYTES };

/** Ciphertext followed by the tag. */
export function encryptAes256Gcm(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array {
  assertNonce(nonce);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, OPTIONS);
  cipher.setAAD(aad);
  const body = cipher.update(plaintext);
  return concatBytes(body, cipher.final(), cipher.getAuthTag());
}

/** The plaintext, or `undefined` when the tag does not fit; never a part of it. */
export function decryptAes256Gcm(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  ciphertext: Uint8Array,
): Uint8Array | undefined {
  assertNonce(nonce);
  if (ciphertext.length < AEAD_TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, OPTIONS);
  decipher.setAAD(aad);
  decipher.setAuthTag(ciphertext.subarray(-AEAD_TAG_BYTES));
  // What update() gives is not authenticated yet. It stays in here until final() has checked the tag.
  const unverified = decipher.update(ciphertext.subarray(0, -AEAD_TAG_BYTES));
  try {
    return concatBytes(unverified, decipher.final());
  } catch {
    unverified.fill(0);
    return undefined;
  }
}

function assertNonce(nonce: Uint8Array): void {
  // GCM takes other lengths too, and hashes them into one that may repeat.
  if (nonce.length !== AEAD_NONCE_BYTES) throw new TypeError('aes-256-gcm: nonce must be 12 bytes');
}
