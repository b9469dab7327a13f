/**
 * All that a host remembers across starts, in one value, so that it is written together or not at all (design 4): who it
 * is, whom it believes, its wrap keys, and what it is to do with each secret.
 */
import { encodeBase64url } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import {
  type JsonObject,
  type JsonValue,
  readArray,
  readBytes,
  readInteger,
  readMember,
  readObject,
  readText,
} from '@rollcall/core/json';
import { parseHostId, parseSecretName } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import {
  type Assignment,
  encodeAssignment,
  parseAssignment,
  restoreWrapKey,
  type WrapKeyPair,
} from '@rollcall/core/seal';
import { encodeListenerKeys, type ListenerKeys, parseListenerKeys } from './listener-keys.ts';

export interface DurableState {
  readonly host: string;
  /** Public hub root, raw Ed25519. The state is bound to it (design 11). */
  readonly hubRoot: Uint8Array;
  readonly trustDomain: string;
  /** Base addresses, in the order in which they are tried. */
  readonly hubs: readonly string[];
  /** SHA-256 of each SPKI that the hub's TLS key is known to have: from the operator, then from signed statements. */
  readonly knownSpki: readonly Uint8Array[];
  /** DER of the fleet's certificate authorities. Empty until first contact. */
  readonly roots: readonly Uint8Array[];
  /** What its operator told a host of an older fleet. Once there is an assignment, that says it. */
  readonly life?: number;
  /** The one that is published first; never empty. */
  readonly wrapKeys: readonly WrapKeyPair[];
  readonly assignments: ReadonlyMap<string, Assignment>;
  /** Highest serial of a hub key that was accepted; 0 before the first. */
  readonly hubKeySerial: number;
  readonly statements: ReadonlyMap<string, StatementTime>;
  /** SHA-256 in hex of each enrolment token that was redeemed, oldest first. */
  readonly redeemed: readonly string[];
  readonly enrolment?: PendingEnrolment;
  /** Of a host that listens, or did. */
  readonly listener?: ListenerKeys;
}

/** When the last accepted statement of a kind was made. Only later ones are taken. */
export interface StatementTime {
  readonly epoch: number;
  readonly timeMs: number;
}

/** A token that is being redeemed. The proof is durable before it is sent, so that a crash repeats the same request. */
export interface PendingEnrolment {
  /** SHA-256 of the token's text, in hex. */
  readonly token: string;
  readonly hubs: readonly string[];
  readonly spki: readonly Uint8Array[];
  readonly instance: Uint8Array;
  readonly proof: Uint8Array;
  /** The request for a listener's certificate that the proof binds, if it does. Its key is `listener.asked`. */
  readonly csr?: Uint8Array;
}

/** Throws what `parseDurableState` would: a state that could not be read again must not take the place of one that can. */
export function encodeDurableState(state: DurableState): JsonObject {
  const encoded = {
    host: state.host,
    hubRoot: encodeBase64url(state.hubRoot),
    trustDomain: state.trustDomain,
    hubs: state.hubs,
    knownSpki: state.knownSpki.map(encodeBase64url),
    roots: state.roots.map(encodeBase64url),
    ...(state.life === undefined ? {} : { life: state.life }),
    wrapKeys: state.wrapKeys.map((pair) => ({
      suite: pair.public.suite,
      private: encodeBase64url(pair.private.reveal()),
    })),
    assignments: [...state.assignments.values()].map(encodeAssignment),
    hubKeySerial: state.hubKeySerial,
    statements: [...state.statements].map(([kind, { epoch, timeMs }]) => ({ kind, epoch, timeMs })),
    redeemed: state.redeemed,
    ...(state.enrolment === undefined ? {} : { enrolment: encodeEnrolment(state.enrolment) }),
    ...(state.listener === undefined ? {} : { listener: encodeListenerKeys(state.listener) }),
  };
  parseDurableState(encoded);
  return encoded;
}

/** Throws the error of the first member that is not what it must be; never repeats its content. */
export function parseDurableState(value: JsonValue): DurableState {
  const state = readObject(value, 'state');
  const life = readMember(state, 'life');
  const enrolment = readMember(state, 'enrolment');
  const listener = readMember(state, 'listener');
  return {
    host: parseHostId(readMember(state, 'host')),
    hubRoot: readBytes(readMember(state, 'hubRoot'), 'hubRoot', KEY_BYTES),
    trustDomain: readText(readMember(state, 'trustDomain'), 'trustDomain', TRUST_DOMAIN_CHARACTERS),
    hubs: readHubs(readMember(state, 'hubs'), 'hubs'),
    knownSpki: readDigests(readMember(state, 'knownSpki'), 'knownSpki'),
    roots: readList(readMember(state, 'roots'), 'roots', limits.trustBundleRoots, (item) =>
      readBytes(item, 'roots', { maxBytes: limits.certificateMaxBytes }),
    ),
    ...(life === undefined ? {} : { life: readInteger(life, 'life') }),
    wrapKeys: readWrapKeys(readMember(state, 'wrapKeys')),
    assignments: readAssignments(readMember(state, 'assignments')),
    hubKeySerial: readInteger(readMember(state, 'hubKeySerial'), 'hubKeySerial', 0),
    statements: readStatements(readMember(state, 'statements')),
    redeemed: readList(readMember(state, 'redeemed'), 'redeemed', limits.redeemedTokensKept, (item) =>
      readHexDigest(item, 'redeemed'),
    ),
    ...(enrolment === undefined ? {} : { enrolment: parseEnrolment(enrolment) }),
    ...(listener === undefined ? {} : { listener: parseListenerKeys(listener) }),
  };
}

const KEY_BYTES = 32;
const INSTANCE_BYTES = 16;
const TRUST_DOMAIN_CHARACTERS = 255;
const HEX_DIGEST = /^[0-9a-f]{64}$/;

function encodeEnrolment({ token, hubs, spki, instance, proof, csr }: PendingEnrolment): JsonObject {
  return {
    token,
    hubs,
    spki: spki.map(encodeBase64url),
    instance: encodeBase64url(instance),
    proof: encodeBase64url(proof),
    ...(csr === undefined ? {} : { csr: encodeBase64url(csr) }),
  };
}

function parseEnrolment(value: JsonValue): PendingEnrolment {
  const enrolment = readObject(value, 'enrolment');
  const csr = readMember(enrolment, 'csr');
  return {
    token: readHexDigest(readMember(enrolment, 'token'), 'enrolment.token'),
    hubs: readHubs(readMember(enrolment, 'hubs'), 'enrolment.hubs'),
    spki: readDigests(readMember(enrolment, 'spki'), 'enrolment.spki'),
    instance: readBytes(readMember(enrolment, 'instance'), 'enrolment.instance', INSTANCE_BYTES),
    proof: readBytes(readMember(enrolment, 'proof'), 'enrolment.proof', KEY_BYTES),
    ...(csr === undefined
      ? {}
      : { csr: readBytes(csr, 'enrolment.csr', { maxBytes: limits.certificateRequestMaxBytes }) }),
  };
}

function readWrapKeys(value: JsonValue | undefined): readonly WrapKeyPair[] {
  const pairs = readList(value, 'wrapKeys', limits.wrapKeysPerHost, (item) => {
    const pair = readObject(item, 'wrapKeys');
    if (readMember(pair, 'suite') !== 'x25519') throw malformed('wrapKeys.suite');
    return restoreWrapKey(readBytes(readMember(pair, 'private'), 'wrapKeys.private', KEY_BYTES));
  });
  // A state without a key would be taken for a host that needs a new one (I11).
  if (pairs.length === 0) throw malformed('wrapKeys');
  return pairs;
}

function readAssignments(value: JsonValue | undefined): ReadonlyMap<string, Assignment> {
  const assignments = readList(value, 'assignments', limits.secretsPerHost, (item) => parseAssignment(item));
  const bySecret = new Map(assignments.map((assignment) => [assignment.secret, assignment]));
  if (bySecret.size !== assignments.length) throw malformed('assignments');
  return bySecret;
}

function readStatements(value: JsonValue | undefined): ReadonlyMap<string, StatementTime> {
  const entries = readList(value, 'statements', limits.statementsPerAnswer, (item) => {
    const statement = readObject(item, 'statements');
    const kind = parseSecretName(readMember(statement, 'kind'));
    const epoch = readInteger(readMember(statement, 'epoch'), 'statements.epoch', 0);
    return [kind, { epoch, timeMs: readInteger(readMember(statement, 'timeMs'), 'statements.timeMs', 0) }] as const;
  });
  return new Map(entries);
}

function readHubs(value: JsonValue | undefined, what: string): readonly string[] {
  return readList(value, what, limits.hubAddresses, (item) => readText(item, what, limits.hubAddressCharacters));
}

function readDigests(value: JsonValue | undefined, what: string): readonly Uint8Array[] {
  return readList(value, what, limits.hubAddresses, (item) => readBytes(item, what, KEY_BYTES));
}

function readHexDigest(value: JsonValue | undefined, what: string): string {
  const text = readText(value, what, KEY_BYTES * 2);
  if (!HEX_DIGEST.test(text)) throw malformed(what);
  return text;
}

function readList<T>(
  value: JsonValue | undefined,
  what: string,
  maxItems: number,
  read: (item: JsonValue) => T,
): readonly T[] {
  return readArray(value, what, maxItems).map(read);
}

function malformed(what: string): RollcallError<'malformed_json'> {
  return new RollcallError('malformed_json', { what });
}
