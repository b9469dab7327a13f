/**
 * HPKE (RFC 9180) base mode, single shot, for one suite: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.
 * Assembled on node:crypto's synchronous calls, since what goes through WebCrypto seals a tenth as many (design 2).
 */
import type { KeyObject } from 'node:crypto';
import { concatBytes, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { revealAs, type SecretBytes } from '../keys/secret-bytes.ts';
import { agreeX25519, importX25519Private, X25519_KEY_BYTES, x25519PublicKey } from '../keys/x25519.ts';
import { refusedAs } from '../refused-as.ts';
import { AEAD_KEY_BYTES, AEAD_NONCE_BYTES, decryptAes256Gcm, encryptAes256Gcm } from './aes-256-gcm.ts';
import { createLabeledKdf } from './labeled-kdf.ts';
import { deriveWrapPrivate, WrapPublicKey } from './wrap-key.ts';

/** Bytes of an encapsulated key. */
export const ENC_BYTES: number = X25519_KEY_BYTES;

export interface SealBaseInput {
  /** A raw key is checked as `parseWrapPublicKey` checks it. */
  readonly recipient: WrapPublicKey | Uint8Array;
  readonly info: Uint8Array;
  readonly aad: Uint8Array;
  readonly plaintext: Uint8Array;
  /** Asked once, for the 32 bytes that the ephemeral key is derived from. */
  readonly random: (n: number) => Uint8Array;
}

export interface OpenBaseInput {
  readonly privateKey: SecretBytes<'wrap-private'> | Uint8Array;
  readonly enc: Uint8Array;
  readonly info: Uint8Array;
  readonly aad: Uint8Array;
  readonly ct: Uint8Array;
}

/** RFC 9180 §6.1, Seal. Throws `malformed_key` for a recipient that is not one. */
export function sealBase(input: SealBaseInput): { enc: Uint8Array; ct: Uint8Array } {
  const recipient = input.recipient instanceof Uint8Array ? new WrapPublicKey(input.recipient) : input.recipient;
  if (!(recipient instanceof WrapPublicKey)) throw new TypeError('sealBase: recipient must be a wrap key');
  const { enc, sharedSecret } = encapsulate(recipient, input.random(X25519_KEY_BYTES));
  const { key, nonce } = keySchedule(sharedSecret, input.info);
  return { enc, ct: encryptAes256Gcm(key, nonce, input.aad, input.plaintext) };
}

/** RFC 9180 §6.1, Open. Throws `open_failed`, whatever of key, enc, info, aad and ct is the wrong one. */
export function openBase(input: OpenBaseInput): Uint8Array {
  const privateKey = importX25519Private(revealAs('wrap-private', input.privateKey));
  return refusedAs('open_failed', () => {
    const { key, nonce } = keySchedule(decapsulate(privateKey, input.enc), input.info);
    const plaintext = decryptAes256Gcm(key, nonce, input.aad, input.ct);
    if (plaintext === undefined) throw new RollcallError('open_failed');
    return plaintext;
  });
}

const KEM_ID = [0x00, 0x20];
const KDF_ID = [0x00, 0x01];
const AEAD_ID = [0x00, 0x02];
const MODE_BASE = Uint8Array.of(0);
const EMPTY = new Uint8Array();

const kem = createLabeledKdf(concatBytes(utf8('KEM'), Uint8Array.from(KEM_ID)));
const suite = createLabeledKdf(concatBytes(utf8('HPKE'), Uint8Array.of(...KEM_ID, ...KDF_ID, ...AEAD_ID)));

/** RFC 9180 §4.1, Encap. `ikm` makes the ephemeral key, so that the RFC's vectors can be reproduced. */
export function encapsulate(recipient: WrapPublicKey, ikm: Uint8Array): { enc: Uint8Array; sharedSecret: Uint8Array } {
  const ephemeral = importX25519Private(deriveWrapPrivate(ikm));
  const enc = x25519PublicKey(ephemeral);
  return { enc, sharedSecret: extractAndExpand(agreeX25519(ephemeral, recipient.keyObject), enc, recipient.bytes) };
}

/** RFC 9180 §4.1, Decap. The encapsulated key is checked like any other public key. */
export function decapsulate(privateKey: KeyObject, enc: Uint8Array): Uint8Array {
  const ephemeral = new WrapPublicKey(enc);
  return extractAndExpand(agreeX25519(privateKey, ephemeral.keyObject), enc, x25519PublicKey(privateKey));
}

function extractAndExpand(dh: Uint8Array, enc: Uint8Array, recipient: Uint8Array): Uint8Array {
  return kem.expand(kem.extract(EMPTY, 'eae_prk', dh), 'shared_secret', concatBytes(enc, recipient), 32);
}

const pskIdHash = suite.extract(EMPTY, 'psk_id_hash', EMPTY);

/** RFC 9180 §5.1 for mode_base: the pre-shared key and its id are empty. Sequence number 0, so the nonce is the base nonce. */
export function keySchedule(sharedSecret: Uint8Array, info: Uint8Array): { key: Uint8Array; nonce: Uint8Array } {
  const context = concatBytes(MODE_BASE, pskIdHash, suite.extract(EMPTY, 'info_hash', info));
  const secret = suite.extract(sharedSecret, 'secret', EMPTY);
  return {
    key: suite.expand(secret, 'key', context, AEAD_KEY_BYTES),
    nonce: suite.expand(secret, 'base_nonce', context, AEAD_NONCE_BYTES),
  };
}
