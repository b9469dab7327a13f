/** What the hub says in the open, signed: TLS keys, a wrap key to forget, the generation in force, the time (design 4 and 11). */
import { encodeBase64url, joinNul, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import {
  canonicalJson,
  type JsonObject,
  type JsonValue,
  readBytes,
  readInteger,
  readMember,
  readObject,
  readText,
} from '../json.ts';
import { ED25519_SIGNATURE_BYTES, verifyEd25519 } from '../keys/ed25519.ts';
import { parsePurpose } from '../keys/names.ts';
import { limits } from '../limits.ts';
import { refusedAs } from '../refused-as.ts';
import { parseInstant } from '../time.ts';
import { HubKey, type HubKeyRecord, parseRecord, verifyHubKeyRecord } from './hub-key.ts';

export interface Statement {
  /** What is stated; grammar of secret names. A kind that a host does not know says nothing to it. */
  readonly kind: string;
  readonly body: JsonObject;
  readonly epoch: number;
  /** RFC 3339 in UTC, the hub's clock. */
  readonly time: string;
}

/** As it travels. */
export interface SignedStatement extends JsonObject {
  readonly v: 1;
  readonly kind: string;
  readonly epoch: number;
  readonly time: string;
  readonly body: JsonObject;
  readonly hubKey: HubKeyRecord;
  readonly sig: string;
}

export interface VerifiedStatement extends Statement {
  readonly timeMs: number;
  readonly hubKeySerial: number;
}

export function signStatement({ hubKey, ...statement }: Statement & { readonly hubKey: HubKey }): SignedStatement {
  if (!(hubKey instanceof HubKey)) throw new TypeError('signStatement: hubKey must be a hub key');
  const { kind, epoch, time, body } = parseStatement({ ...statement });
  return {
    v: 1,
    kind,
    epoch,
    time,
    body,
    hubKey: hubKey.record,
    sig: encodeBase64url(hubKey.sign(signedBytes(statement))),
  };
}

/**
 * The statement, once signed by a hub key that the pinned root vouches for; throws `statement_malformed`,
 * `unknown_hub_key` or `bad_signature`. Whether it is new enough is for the caller, who knows the last time and epoch.
 */
export function verifyStatement(
  json: JsonValue,
  context: { readonly hubRoot: Uint8Array; readonly highestSerial: number },
): VerifiedStatement {
  const { statement, timeMs, hubKey, sig, message } = refusedAs('statement_malformed', () => parseSigned(json));
  const signer = verifyHubKeyRecord(hubKey, context.hubRoot, context.highestSerial);
  verifyEd25519(signer.public, message, sig);
  return { ...statement, timeMs, hubKeySerial: signer.serial };
}

function parseSigned(json: JsonValue) {
  const value = readObject(json, 'statement');
  if (readInteger(readMember(value, 'v'), 'v') !== 1) throw new RollcallError('malformed_json', { what: 'v' });
  const hubKey = readMember(value, 'hubKey') as JsonValue;
  parseRecord(hubKey);
  const statement = parseStatement(value);
  return {
    statement,
    timeMs: parseInstant(statement.time),
    hubKey,
    sig: readBytes(readMember(value, 'sig'), 'sig', ED25519_SIGNATURE_BYTES),
    message: signedBytes(statement),
  };
}

function parseStatement(value: JsonObject): Statement {
  const time = readText(readMember(value, 'time'), 'time', 40);
  parseInstant(time);
  return {
    kind: parsePurpose(readMember(value, 'kind')),
    body: readObject(readMember(value, 'body'), 'body'),
    epoch: readInteger(readMember(value, 'epoch'), 'epoch'),
    time,
  };
}

/** "rollcall/statement/v1" 0 kind 0 canonical JSON of body, epoch and time. The last part may hold any UTF-8. */
function signedBytes({ kind, body, epoch, time }: Statement): Uint8Array {
  const json = utf8(canonicalJson({ body, epoch, time }));
  if (json.length > limits.statementMaxBytes) throw new RollcallError('malformed_json', { what: 'size' });
  return joinNul('rollcall/statement/v1', kind, json);
}
