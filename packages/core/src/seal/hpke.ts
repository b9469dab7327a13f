/**
 * HPKE (RFC 9180) base mode, single shot, for one suite: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.
 * Assembled on node:crypto's synchronous calls, since what goes through WebCrypto seals a tenth as many (design 2).
 */
import { concatBytes, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { revealAs, type SecretBytes } from '../keys/secret-bytes.ts';
import { importX25519Private, X25519_KEY_BYTES } from '../keys/x25519.ts';
import { refusedAs } from '../refused-as.ts';
import { AEAD_KEY_BYTES, AEAD_NONCE_BYTES, decryptAes256Gcm, encryptAes256Gcm } from './aes-256-gcm.ts';
import { decapsulate, encapsulate } from './dhkem.ts';
import { createLabeledKdf } from './labeled-kdf.ts';
import { WrapPublicKey } from './wrap-key.ts';

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

const EMPTY = new Uint8Array();
const MODE_BASE = Uint8Array.of(0);

/** "HPKE", then the ids of the KEM, the KDF and the AEAD. */
const kdf = createLabeledKdf(concatBytes(utf8('HPKE'), Uint8Array.of(0x00, 0x20, 0x00, 0x01, 0x00, 0x02)));
const extractInfoHash = kdf.extract('info_hash');
const extractSecret = kdf.extract('secret');
const expandKey = kdf.expand('key', AEAD_KEY_BYTES);
const expandNonce = kdf.expand('base_nonce', AEAD_NONCE_BYTES);
const modeAndPskIdHash = concatBytes(MODE_BASE, kdf.extract('psk_id_hash')(EMPTY, EMPTY));

/** RFC 9180 §5.1 for mode_base: pre-shared key and its id are empty. One message, so the nonce is the base nonce. */
export function keySchedule(sharedSecret: Uint8Array, info: Uint8Array): { key: Uint8Array; nonce: Uint8Array } {
  const context = [modeAndPskIdHash, extractInfoHash(EMPTY, info)];
  const secret = extractSecret(sharedSecret, EMPTY);
  return { key: expandKey(secret, ...context), nonce: expandNonce(secret, ...context) };
}
