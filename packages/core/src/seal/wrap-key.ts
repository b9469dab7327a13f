/** The wrap key of a host: an X25519 key pair that secrets are sealed to (design 3). */
import type { KeyObject } from 'node:crypto';
import { decodeBase64url, joinNul } from '../bytes.ts';
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
import { deriveX25519Private } from './dhkem.ts';

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
    this.#bytes = new Uint8Array(bytes);
  }

  /** Raw, as a copy: a checked key cannot be changed afterwards. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.#bytes);
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

/** A fresh pair from 32 random bytes, by the derivation of RFC 9180 §7.1.3. */
export function generateWrapKey(random: (n: number) => Uint8Array): WrapKeyPair {
  return restoreWrapKey(deriveX25519Private(random(X25519_KEY_BYTES)));
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
