/** What a host is to do with one secret: which versions to accept, and which one to present (design 4). */
import { decodeUtf8, encodeBase64url, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import {
  type JsonObject,
  type JsonValue,
  readArray,
  readBytes,
  readInteger,
  readMember,
  readObject,
  readText,
} from '../json.ts';
import { ED25519_KEY_BYTES, parseEd25519PublicKey } from '../keys/ed25519.ts';
import { parsePurpose, parseSecretName } from '../keys/names.ts';
import { SecretBytes } from '../keys/secret-bytes.ts';
import { SHA256_BYTES } from '../keys/sha256.ts';
import { limits } from '../limits.ts';
import { parseInstant } from '../time.ts';

/** Of the secret `master`: what is derived for this host and life. */
export interface MasterValue {
  /** The life that the keys were derived for: what began it, the host learns of it here. */
  readonly life: number;
  /** One key per purpose. */
  readonly keys: Readonly<Record<string, SecretBytes<'host-key'>>>;
  /** Public single sign-on keys: Ed25519, raw. */
  readonly sso?: readonly Uint8Array[];
  /** The master itself, only under `payload: master`. */
  readonly master?: SecretBytes<'master'>;
}

/** Of `master` its derivations, of any other secret the text of the token. */
export type AssignmentValue = MasterValue | SecretBytes<'token'>;

export interface AcceptedVersion {
  readonly version: number;
  readonly value: AssignmentValue;
}

export interface RefusedVersion {
  readonly version: number;
  readonly value: SecretBytes<'token'>;
}

export interface Assignment {
  readonly secret: string;
  readonly epoch: number;
  readonly step: number;
  /** One or two; none where it drops the secret, and then nothing is accepted. */
  readonly accept: readonly AcceptedVersion[];
  /** One of those that are accepted (I1); `NOTHING` where it drops the secret. */
  readonly present: number;
  /** Dropped by this very step, named so that a host can find out by itself that it refuses it (design 5). Taken by nobody. */
  readonly refuse?: readonly RefusedVersion[];
  /** RFC 3339 in UTC. Nothing is decided by it: hosts have no clock that counts (I7). */
  readonly issuedAt: string;
}

/** In the place of a version: none. An assignment that presents it accepts nothing either, and its host holds the secret no more. */
export const NOTHING = 0;

/** Whether it takes the secret away from its host. What is kept of it is its place in the order, against replays (I4). */
export function isDrop({ present }: Pick<Assignment, 'present'>): boolean {
  return present === NOTHING;
}

/** The durable form: JSON with the secrets in it. It belongs into a sealed payload or a state file, nowhere else. */
export function encodeAssignment(assignment: Assignment): JsonObject {
  const json = {
    secret: assignment.secret,
    epoch: assignment.epoch,
    step: assignment.step,
    accept: assignment.accept.map(({ version, value }) => ({ version, value: encodeValue(value) })),
    present: assignment.present,
    ...((assignment.refuse ?? []).length === 0
      ? {}
      : { refuse: assignment.refuse?.map(({ version, value }) => ({ version, value: encodeValue(value) })) ?? [] }),
    issuedAt: assignment.issuedAt,
  };
  parseAssignment(json); // never issue, and never store, what could not be read again
  return json;
}

/** Throws the code of the part that is at fault: `malformed_json`, `malformed_secret_name`, `malformed_time`, `malformed_key`. */
export function parseAssignment(json: JsonValue): Assignment {
  const value = readObject(json, 'assignment');
  const secret = parseSecretName(readMember(value, 'secret'));
  const accept = readArray(readMember(value, 'accept'), 'accept', limits.acceptedVersions).map((item) =>
    parseAccepted(secret, item),
  );
  const present = readInteger(readMember(value, 'present'), 'present', NOTHING);
  const versions = accept.map(({ version }) => version);
  if (new Set(versions).size !== versions.length) throw new RollcallError('malformed_json', { what: 'accept' });
  // Nothing is accepted where nothing is presented, and in no other form: an empty list must never read as "anything".
  const isDropped = present === NOTHING && versions.length === 0 && secret !== 'master';
  if (!isDropped && !versions.includes(present)) throw new RollcallError('malformed_json', { what: 'present' });
  const refuse = parseRefused(secret, versions, readMember(value, 'refuse'));
  const issuedAt = readText(readMember(value, 'issuedAt'), 'issuedAt', 40);
  parseInstant(issuedAt);
  return {
    secret,
    epoch: readInteger(readMember(value, 'epoch'), 'epoch'),
    step: readInteger(readMember(value, 'step'), 'step'),
    accept,
    present,
    ...(refuse === undefined ? {} : { refuse }),
    issuedAt,
  };
}

/** Absent where nothing is dropped. One that is accepted too could be read either way, so it is neither. */
function parseRefused(
  secret: string,
  accepted: readonly number[],
  json: JsonValue | undefined,
): readonly RefusedVersion[] | undefined {
  if (json === undefined) return undefined;
  const malformed = new RollcallError('malformed_json', { what: 'refuse' });
  const items = readArray(json, 'refuse', limits.refusedVersions);
  if (secret === 'master' || accepted.length === 0 || items.length === 0) throw malformed;
  return items.map((item) => {
    const refused = readObject(item, 'refuse');
    const version = readInteger(readMember(refused, 'version'), 'version');
    if (accepted.includes(version)) throw malformed;
    return { version, value: parseTokenValue(readMember(refused, 'value')) };
  });
}

function parseAccepted(secret: string, json: JsonValue): AcceptedVersion {
  const item = readObject(json, 'accept');
  const value = readMember(item, 'value');
  return {
    version: readInteger(readMember(item, 'version'), 'version'),
    value: secret === 'master' ? parseMasterValue(value) : parseTokenValue(value),
  };
}

function encodeValue(value: AssignmentValue): JsonValue {
  if (value instanceof SecretBytes) {
    const text = decodeUtf8(value.reveal());
    if (value.kind !== 'token' || text === undefined) throw new TypeError('assignment: the value must be a token text');
    return text;
  }
  return {
    life: value.life,
    keys: Object.fromEntries(Object.entries(value.keys).map(([purpose, key]) => [purpose, encodeSecret(key)])),
    ...(value.sso === undefined ? {} : { sso: value.sso.map(encodeBase64url) }),
    ...(value.master === undefined ? {} : { master: encodeSecret(value.master) }),
  };
}

function encodeSecret(secret: SecretBytes): string {
  return encodeBase64url(secret.reveal());
}

function parseTokenValue(json: JsonValue | undefined): SecretBytes<'token'> {
  const text = readText(json, 'value', limits.tokenTextMaxCharacters);
  if (text === '') throw new RollcallError('malformed_json', { what: 'value' });
  return new SecretBytes('token', utf8(text));
}

function parseMasterValue(json: JsonValue | undefined): MasterValue {
  const value = readObject(json, 'value');
  const keys = Object.entries(readObject(readMember(value, 'keys'), 'keys'));
  if (keys.length === 0 || keys.length > limits.purposesPerMaster)
    throw new RollcallError('malformed_json', { what: 'keys' });
  const sso = readMember(value, 'sso');
  const master = readMember(value, 'master');
  return {
    life: readInteger(readMember(value, 'life'), 'life'),
    keys: Object.fromEntries(
      keys.map(([purpose, key]) => [
        parsePurpose(purpose),
        new SecretBytes('host-key', readBytes(key, 'keys', SHA256_BYTES)),
      ]),
    ),
    ...(sso === undefined ? {} : { sso: readArray(sso, 'sso', limits.ssoKeysPerMaster).map(parseSsoKey) }),
    ...(master === undefined ? {} : { master: parseMaster(master) }),
  };
}

function parseSsoKey(json: JsonValue): Uint8Array {
  return parseEd25519PublicKey(readBytes(json, 'sso', ED25519_KEY_BYTES));
}

function parseMaster(json: JsonValue): SecretBytes<'master'> {
  const bytes = readBytes(json, 'master', { maxBytes: limits.masterMaxBytes });
  if (bytes.length < limits.masterMinBytes) throw new RollcallError('malformed_json', { what: 'master' });
  return new SecretBytes('master', bytes);
}
