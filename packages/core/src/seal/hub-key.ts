/**
 * Who signs for the hub. Hosts pin an offline hub root; the root vouches for hub keys, which rise by serial, and a hub
 * key signs deliveries and statements (design 3, Hub root and hub key).
 */
import type { KeyObject } from 'node:crypto';
import { encodeBase64url, equalBytes, joinNul } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { type JsonObject, type JsonValue, readBytes, readInteger, readMember, readObject, readText } from '../json.ts';
import {
  ED25519_KEY_BYTES,
  ED25519_SIGNATURE_BYTES,
  ed25519PublicKey,
  importEd25519Seed,
  parseEd25519PublicKey,
  signEd25519,
  verifyEd25519,
} from '../keys/ed25519.ts';
import { revealAs, SecretBytes } from '../keys/secret-bytes.ts';
import { sha256Hex } from '../keys/sha256.ts';
import { refusedAs } from '../refused-as.ts';

/** The public half of a hub key and the root's word for it, as it travels with everything that the key signs. */
export interface HubKeyRecord extends JsonObject {
  /** Lower-case hex of SHA-256(public). */
  readonly kid: string;
  readonly public: string;
  readonly serial: number;
  readonly rootSig: string;
}

/** A hub key that the pinned root vouches for. */
export interface VerifiedHubKey {
  readonly kid: string;
  readonly public: Uint8Array;
  readonly serial: number;
}

/** The root's key pair; meant to leave the machine. */
export class HubRoot {
  readonly public: Uint8Array;
  readonly private: SecretBytes<'hub-root'>;
  readonly #key: KeyObject;

  constructor(seed: Uint8Array | SecretBytes<'hub-root'>) {
    const bytes = revealAs('hub-root', seed);
    this.#key = importEd25519Seed(bytes);
    this.public = ed25519PublicKey(this.#key);
    this.private = new SecretBytes('hub-root', bytes);
  }

  sign(message: Uint8Array): Uint8Array {
    return signEd25519(this.#key, message);
  }
}

/** The key that the hub signs with. Only instances of this class sign deliveries and statements. */
export class HubKey {
  readonly kid: string;
  readonly public: Uint8Array;
  readonly serial: number;
  readonly rootSig: Uint8Array;
  readonly private: SecretBytes<'hub-key'>;
  readonly record: HubKeyRecord;
  readonly #key: KeyObject;

  /** Throws `malformed_key` when the record is of another key. */
  constructor(seed: Uint8Array | SecretBytes<'hub-key'>, record: JsonValue) {
    const bytes = revealAs('hub-key', seed);
    const parsed = parseRecord(record);
    this.#key = importEd25519Seed(bytes);
    this.public = ed25519PublicKey(this.#key);
    if (!equalBytes(this.public, parsed.public)) throw new RollcallError('malformed_key', { what: 'public' });
    this.kid = parsed.kid;
    this.serial = parsed.serial;
    this.rootSig = parsed.rootSig;
    this.private = new SecretBytes('hub-key', bytes);
    this.record = encodeRecord(this.public, this.serial, this.rootSig);
  }

  sign(message: Uint8Array): Uint8Array {
    return signEd25519(this.#key, message);
  }
}

export function createHubRoot(random: (n: number) => Uint8Array): HubRoot {
  return new HubRoot(random(ED25519_KEY_BYTES));
}

export function restoreHubRoot(seed: Uint8Array | SecretBytes<'hub-root'>): HubRoot {
  return new HubRoot(seed);
}

/** A fresh hub key, derived from nothing, under the root's signature. `serial` is above every earlier one. */
export function createHubKey(random: (n: number) => Uint8Array, root: HubRoot, serial: number): HubKey {
  const seed = random(ED25519_KEY_BYTES);
  return new HubKey(seed, certifyHubKey(root, ed25519PublicKey(seed), serial));
}

/** The hub key of a stored seed and record. */
export function restoreHubKey(seed: Uint8Array | SecretBytes<'hub-key'>, record: JsonValue): HubKey {
  return new HubKey(seed, record);
}

/** The root's act: for a key whose private half it never sees. */
export function certifyHubKey(root: HubRoot, publicKey: Uint8Array, serial: number): HubKeyRecord {
  if (!(root instanceof HubRoot)) throw new TypeError('certifyHubKey: a hub root is needed');
  if (!Number.isSafeInteger(serial) || serial < 1) throw new TypeError('certifyHubKey: serial must be 1 or more');
  parseEd25519PublicKey(publicKey);
  return encodeRecord(publicKey, serial, root.sign(signedByRoot(publicKey, serial)));
}

/**
 * The hub key in a record, once the pinned root vouches for it and its serial is not below the highest that the host
 * knows; throws `unknown_hub_key`.
 */
export function verifyHubKeyRecord(record: JsonValue, root: Uint8Array, minSerial: number): VerifiedHubKey {
  return refusedAs('unknown_hub_key', () => {
    const { kid, public: publicKey, serial, rootSig } = parseRecord(record);
    verifyEd25519(root, signedByRoot(publicKey, serial), rootSig);
    // Compared after the signature: a serial that nobody signed says nothing.
    if (serial < minSerial) throw new RollcallError('unknown_hub_key', { what: 'serial' });
    return { kid, public: publicKey, serial };
  });
}

/** Checks the form alone; throws `malformed_json` or `malformed_key`. */
export function parseRecord(record: JsonValue | undefined): VerifiedHubKey & { readonly rootSig: Uint8Array } {
  const value = readObject(record, 'hubKey');
  const publicKey = parseEd25519PublicKey(readBytes(readMember(value, 'public'), 'public', ED25519_KEY_BYTES));
  const kid = readText(readMember(value, 'kid'), 'kid', 64);
  if (kid !== sha256Hex(publicKey)) throw new RollcallError('malformed_key', { what: 'kid' });
  return {
    kid,
    public: publicKey,
    serial: readInteger(readMember(value, 'serial'), 'serial'),
    rootSig: readBytes(readMember(value, 'rootSig'), 'rootSig', ED25519_SIGNATURE_BYTES),
  };
}

function encodeRecord(publicKey: Uint8Array, serial: number, rootSig: Uint8Array): HubKeyRecord {
  return {
    kid: sha256Hex(publicKey),
    public: encodeBase64url(publicKey),
    serial,
    rootSig: encodeBase64url(rootSig),
  };
}

/** "rollcall/hub-key/v1" 0 kid 0 public 0 serial; the id is text, in hex. */
function signedByRoot(publicKey: Uint8Array, serial: number): Uint8Array {
  return joinNul('rollcall/hub-key/v1', sha256Hex(publicKey), publicKey, serial);
}
