/** Key and certificate of this host's own listener, as they are kept (design 6): what is in force, and what is asked for. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { encodeBase64url, equalBytes } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import {
  type JsonObject,
  type JsonValue,
  readArray,
  readBytes,
  readInteger,
  readMember,
  readObject,
} from '@rollcall/core/json';
import { SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { parseCertificate } from '@rollcall/x509';

export interface ListenerKeys {
  /** What the listener serves with, until another one has taken its place. */
  readonly current?: ListenerCertificate;
  /** Durable before its request is sent (I11). */
  readonly asked?: AskedCertificate;
}

export interface ListenerCertificate {
  /** PKCS #8 DER. */
  readonly privateKey: ListenerPrivateKey;
  /** DER, leaf first. */
  readonly chain: readonly Uint8Array[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Of the host when it was issued: of another one the hub refuses it. */
  readonly life: number | null;
}

/** A new key, and the request that names it. */
export interface AskedCertificate {
  /** PKCS #8 DER. */
  readonly privateKey: ListenerPrivateKey;
  /** PKCS #10 DER. */
  readonly csr: Uint8Array;
}

export type ListenerPrivateKey = SecretBytes<'listener-private'>;

/** SubjectPublicKeyInfo in DER. */
export function publicKeyOf(privateKey: ListenerPrivateKey): Uint8Array {
  const key = createPrivateKey({ key: Buffer.from(privateKey.reveal()), format: 'der', type: 'pkcs8' });
  return Uint8Array.from(createPublicKey(key).export({ format: 'der', type: 'spki' }));
}

export function encodeListenerKeys({ current, asked }: ListenerKeys): JsonObject {
  return {
    ...(current === undefined
      ? {}
      : {
          current: {
            privateKey: encodeBase64url(current.privateKey.reveal()),
            chain: current.chain.map(encodeBase64url),
            ...(current.life === null ? {} : { life: current.life }),
          },
        }),
    ...(asked === undefined
      ? {}
      : { asked: { privateKey: encodeBase64url(asked.privateKey.reveal()), csr: encodeBase64url(asked.csr) } }),
  };
}

/** Throws the error of the first member that is not what it must be; never repeats its content. */
export function parseListenerKeys(value: JsonValue): ListenerKeys {
  const keys = readObject(value, 'listener');
  const current = readMember(keys, 'current');
  const asked = readMember(keys, 'asked');
  return {
    ...(current === undefined ? {} : { current: parseCurrent(current) }),
    ...(asked === undefined ? {} : { asked: parseAsked(asked) }),
  };
}

/** A certificate with its key; the dates are read from it, since stored ones could differ. */
export function toListenerCertificate(
  privateKey: ListenerPrivateKey,
  chain: readonly Uint8Array[],
  life: number | null,
): ListenerCertificate {
  const [leaf] = chain;
  if (leaf === undefined) throw malformed('listener.chain');
  const { notBeforeMs, notAfterMs, spkiDer } = parseCertificate(leaf);
  if (!equalBytes(spkiDer, publicKeyOf(privateKey))) throw malformed('listener.privateKey');
  return { privateKey, chain, notBeforeMs, notAfterMs, life };
}

const PRIVATE_KEY_MAX_BYTES = 1_024;

function parseCurrent(value: JsonValue): ListenerCertificate {
  const current = readObject(value, 'listener.current');
  const life = readMember(current, 'life');
  const chain = readArray(readMember(current, 'chain'), 'listener.chain', limits.certificateChain).map((item) =>
    readBytes(item, 'listener.chain', { maxBytes: limits.certificateMaxBytes }),
  );
  return toListenerCertificate(
    readPrivateKey(current),
    chain,
    life === undefined ? null : readInteger(life, 'listener.life'),
  );
}

function parseAsked(value: JsonValue): AskedCertificate {
  const asked = readObject(value, 'listener.asked');
  const privateKey = readPrivateKey(asked);
  const csr = readBytes(readMember(asked, 'csr'), 'listener.csr', { maxBytes: limits.certificateRequestMaxBytes });
  return { privateKey, csr };
}

function readPrivateKey(value: JsonObject): ListenerPrivateKey {
  const bytes = readBytes(readMember(value, 'privateKey'), 'listener.privateKey', { maxBytes: PRIVATE_KEY_MAX_BYTES });
  const key = new SecretBytes('listener-private', bytes);
  try {
    publicKeyOf(key);
  } catch {
    // OpenSSL's words about a key are no part of an error.
    throw malformed('listener.privateKey');
  }
  return key;
}

function malformed(what: string): RollcallError<'malformed_json'> {
  return new RollcallError('malformed_json', { what });
}
