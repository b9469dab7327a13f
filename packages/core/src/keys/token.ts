/** Text forms of tokens: a prefix that scanners find, the value, and a checksum that tells a typo from a refusal (design 3). */
import { concatBytes, decodeBase64url, encodeBase64url, equalBytes, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { limits } from '../limits.ts';
import { sha256 } from './sha256.ts';

/** All there is to know about a kind of token. */
export const tokenPrefixes = {
  rcf: 'fleet token',
  rch: 'host token',
  rcb: 'heartbeat bearer',
  rcc: 'command bearer',
  rco: 'operator token',
  rce: 'enrolment token',
} as const;

export type TokenPrefix = keyof typeof tokenPrefixes;

const CHECKSUM_BYTES = 4;

export function encodeToken(prefix: TokenPrefix, value: Uint8Array): string {
  if (value.length === 0) throw new TypeError('encodeToken: value is empty');
  const text = `${prefix}_${encodeBase64url(concatBytes(value, checksum(prefix, value)))}`;
  if (text.length > limits.tokenTextMaxCharacters) throw new RangeError('encodeToken: value is too long');
  return text;
}

/** The value of a token of exactly this kind; throws `malformed_token`. */
export function parseToken(prefix: TokenPrefix, text: unknown): Uint8Array {
  if (typeof text !== 'string' || text.length > limits.tokenTextMaxCharacters || !text.startsWith(`${prefix}_`)) {
    throw malformed(prefix);
  }
  const bytes = decodeBase64url(text.slice(prefix.length + 1));
  if (bytes === undefined || bytes.length <= CHECKSUM_BYTES) throw malformed(prefix);
  const value = bytes.slice(0, -CHECKSUM_BYTES);
  // Not a secret comparison: anyone can compute the checksum of the value that they sent.
  if (!equalBytes(bytes.subarray(-CHECKSUM_BYTES), checksum(prefix, value))) throw malformed(prefix);
  return value;
}

function checksum(prefix: TokenPrefix, value: Uint8Array): Uint8Array {
  return sha256(concatBytes(utf8(`${prefix}_`), value)).subarray(0, CHECKSUM_BYTES);
}

function malformed(prefix: TokenPrefix): RollcallError<'malformed_token'> {
  return new RollcallError('malformed_token', { expected: tokenPrefixes[prefix] });
}
