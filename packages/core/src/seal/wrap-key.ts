/** The wrap key of a host: an X25519 key pair that secrets are sealed to (design 3). */
import type { KeyObject } from 'node:crypto';
import { concatBytes, decodeBase64url, joinNul, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { revealAs, SecretBytes } from '../keys/secret-bytes.ts';
import { sha256Hex } from '../keys/sha256.ts';
import {
  assertX25519Public,
  importX25519Private,
  importX25519Public,
  X25519_KEY_BYTES,
  x25519PublicKey,
} from '../keys/x25519.ts';
import { createLabeledKdf } from './labeled-kdf.ts';

/** A key has one suite; changing it is a wrap-key rotation. `xwing` is to come. */
export type WrapSuite = 'x25519';

/** A public wrap key that was checked. Only instances of this class are sealed to. */
export class WrapPublicKey {
  readonly suite: WrapSuite = 'x25519';
  readonly #bytes: Uint8Array;
  #fingerprint: string | undefined;
  #keyObject: KeyObject | undefined;

  /** Throws `malformed_key` unless the bytes are canonical and not of low order. */
  constructor(bytes: Uint8Array) {
    assertX25519Public(bytes);
    this.#bytes = Uint8Array.from(bytes);
  }

  /** Raw, as a copy: a checked key cannot be changed afterwards. */
  get bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  /** Lower-case hex of SHA-256(suite 0 bytes). */
  get fingerprint(): string {
    this.#fingerprint ??= fingerprint(this.suite, this.#bytes);
    return this.#fingerprint;
  }

  /** For node:crypto. Imported once, at the first seal: a heartbeat parses its key only to look at it. */
  get keyObject(): KeyObject {
    this.#keyObject ??= importX25519Public(this.#bytes);
    return this.#keyObject;
  }
}

export interface WrapKeyPair {
  readonly public: WrapPublicKey;
  readonly private: SecretBytes<'wrap-private'>;
}

/** A published key, raw or in base64url; throws `malformed_key`. */
export function parseWrapPublicKey(key: { readonly suite?: unknown; readonly public?: unknown }): WrapPublicKey {
  if (key.suite !== 'x25519') throw new RollcallError('malformed_key', { what: 'suite' });
  const bytes = typeof key.public === 'string' ? decodeBase64url(key.public) : key.public;
  if (!(bytes instanceof Uint8Array)) throw new RollcallError('malformed_key', { what: 'public' });
  return new WrapPublicKey(bytes);
}

export function generateWrapKey(random: (n: number) => Uint8Array): WrapKeyPair {
  return restoreWrapKey(deriveWrapPrivate(random(X25519_KEY_BYTES)));
}

/** The pair of a stored private key. The public half is computed, never stored: a stored one could lie. */
export function restoreWrapKey(privateKey: Uint8Array | SecretBytes<'wrap-private'>): WrapKeyPair {
  const bytes = revealAs('wrap-private', privateKey);
  return {
    public: new WrapPublicKey(x25519PublicKey(importX25519Private(bytes))),
    private: new SecretBytes('wrap-private', bytes),
  };
}

/** Fingerprint of a public key: lower-case hex of SHA-256(suite 0 bytes). */
export function fingerprint(suite: WrapSuite, bytes: Uint8Array): string {
  return sha256Hex(joinNul(suite, bytes));
}

const EMPTY = new Uint8Array();
const kem = createLabeledKdf(concatBytes(utf8('KEM'), Uint8Array.of(0x00, 0x20)));

/** RFC 9180 §7.1.3, DeriveKeyPair for X25519: 32 random bytes, or the `ikm` of a vector, to a private key. */
export function deriveWrapPrivate(ikm: Uint8Array): Uint8Array {
  if (ikm.length !== X25519_KEY_BYTES) throw new TypeError('deriveWrapPrivate: 32 random bytes are needed');
  return kem.expand(kem.extract(EMPTY, 'dkp_prk', ikm), 'sk', EMPTY, X25519_KEY_BYTES);
}
