/**
 * What a host needs before it can believe a hub: as an enrolment token for a new host, as a hub-root file for one of an
 * older fleet (design 11). Both carry the root, never the hub key.
 */
import { decodeUtf8, encodeBase64url, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import {
  type JsonObject,
  type JsonValue,
  parseJson,
  readArray,
  readBytes,
  readInteger,
  readMember,
  readObject,
  readText,
} from '../json.ts';
import { limits } from '../limits.ts';
import { refusedAs } from '../refused-as.ts';
import { encodeTime, parseInstant } from '../time.ts';
import { ED25519_KEY_BYTES, parseEd25519PublicKey } from './ed25519.ts';
import { ENROLMENT_SECRET_BYTES } from './enrolment-proof.ts';
import { parseHostId } from './names.ts';
import { SecretBytes } from './secret-bytes.ts';
import { SHA256_BYTES } from './sha256.ts';
import { encodeToken, parseToken } from './token.ts';

/** Where a hub is, and how it is known. */
export interface HubRootFile {
  readonly trustDomain: string;
  /** Public hub root: Ed25519, raw. */
  readonly root: Uint8Array;
  /** SHA-256 of each SPKI that the hub's TLS key may have at first contact. */
  readonly spki: readonly Uint8Array[];
  /** Base addresses, in the order in which they are tried. */
  readonly hubs: readonly string[];
}

/** The value of an `rce_` token. */
export interface EnrolmentToken extends HubRootFile {
  readonly host: string;
  readonly secret: SecretBytes<'enrolment'>;
  readonly expiresAtMs: number;
}

const FORMAT = 1;

export function encodeEnrolmentToken(token: EnrolmentToken): string {
  const value = {
    ...hubTrustJson(token),
    host: parseHostId(token.host),
    secret: encodeBase64url(token.secret.reveal()),
    expiresAt: encodeTime(token.expiresAtMs),
  };
  const text = encodeToken('rce', utf8(JSON.stringify(value)));
  parseEnrolmentToken(text); // never hand out what an agent would refuse
  return text;
}

/** Throws `malformed_token`. Whether it has expired is for the caller to say: it has the clock. */
export function parseEnrolmentToken(text: unknown): EnrolmentToken {
  return refusedAs('malformed_token', () => {
    const value = readObject(parseJson(parseToken('rce', text)), 'token');
    return {
      ...parseHubTrust(value),
      host: parseHostId(readMember(value, 'host')),
      secret: new SecretBytes('enrolment', readBytes(readMember(value, 'secret'), 'secret', ENROLMENT_SECRET_BYTES)),
      expiresAtMs: parseInstant(readText(readMember(value, 'expiresAt'), 'expiresAt', 40)),
    };
  });
}

export function encodeHubRootFile(file: HubRootFile): string {
  const text = `${JSON.stringify(hubTrustJson(file), undefined, 2)}\n`;
  parseHubRootFile(text);
  return text;
}

/** Throws `byte_order_mark`, or `malformed_file`. */
export function parseHubRootFile(source: string | Uint8Array): HubRootFile {
  const text = typeof source === 'string' ? source : decodeUtf8(source);
  if (text?.startsWith('\ufeff')) throw new RollcallError('byte_order_mark');
  return refusedAs('malformed_file', () => parseHubTrust(readObject(parseJson(text ?? ''), 'file')));
}

function hubTrustJson({ trustDomain, root, spki, hubs }: HubRootFile): JsonObject {
  return { v: FORMAT, trustDomain, root: encodeBase64url(root), spki: spki.map(encodeBase64url), hubs };
}

function parseHubTrust(value: JsonObject): HubRootFile {
  if (readInteger(readMember(value, 'v'), 'v') !== FORMAT) throw new RollcallError('malformed_json', { what: 'v' });
  return {
    trustDomain: readTrustDomain(readMember(value, 'trustDomain')),
    root: parseEd25519PublicKey(readBytes(readMember(value, 'root'), 'root', ED25519_KEY_BYTES)),
    spki: readSome(readMember(value, 'spki'), 'spki', (item) => readBytes(item, 'spki', SHA256_BYTES)),
    hubs: readSome(readMember(value, 'hubs'), 'hubs', readHubAddress),
  };
}

/** At least one: without an address or a hash no host could ever get further. */
function readSome<T>(value: JsonValue | undefined, what: string, read: (item: JsonValue) => T): T[] {
  const items = readArray(value, what, limits.hubAddresses);
  if (items.length === 0) throw new RollcallError('malformed_json', { what });
  return items.map(read);
}

/** SPIFFE trust domain names: SPIFFE-ID §2.1. */
const TRUST_DOMAIN = /^[a-z0-9._-]{1,255}$/;

function readTrustDomain(value: JsonValue | undefined): string {
  const text = readText(value, 'trustDomain', 255);
  if (!TRUST_DOMAIN.test(text)) throw new RollcallError('malformed_json', { what: 'trustDomain' });
  return text;
}

function readHubAddress(value: JsonValue): string {
  const text = readText(value, 'hubs', limits.hubAddressCharacters);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // No user, password, query or fragment: an address is joined with paths, and shown.
  const isPlain = url !== undefined && url.username === '' && url.password === '' && !/[?#\s]/.test(text);
  if (!isPlain || url.protocol !== 'https:') throw new RollcallError('malformed_json', { what: 'hubs' });
  return text;
}
