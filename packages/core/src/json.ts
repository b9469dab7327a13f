/**
 * JSON as it is taken from outside: one document, no duplicate keys, bounded depth, whole numbers below 2^53, and only
 * texts that have UTF-8. And back: RFC 8785, so that what is signed has one form.
 */
import { decodeBase64url, decodeUtf8 } from './bytes.ts';
import { RollcallError } from './errors.ts';
import { limits } from './limits.ts';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** The value of a JSON text or of its UTF-8 bytes; throws `malformed_json`. Bound the size before. */
export function parseJson(source: string | Uint8Array): JsonValue {
  const text = typeof source === 'string' ? source : decodeUtf8(source);
  if (text === undefined) throw malformed('encoding');
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // No `cause`: V8's message quotes the text, which may hold a secret (I12).
    throw malformed('syntax');
  }
  // JSON.parse has settled the grammar, so every colon outside a string is one member. It also silently keeps only the
  // last of two equal keys: fewer members in the value than in the text means that a key came twice.
  const written = countWrittenMembers(text);
  if (countMembers(value) !== written) throw malformed('duplicate key');
  // UTF-8 has no half of a surrogate pair: it can only come by an escape, or in a text that never was bytes.
  if (typeof source === 'string' || text.includes('\\')) assertTextsWellFormed(value);
  return value;
}

/** The one text of a value (RFC 8785); throws `malformed_json` for what `parseJson` would not take. */
export function canonicalJson(value: JsonValue): string {
  return writeCanonical(value, 0);
}

// Guarded readers: each returns what it was asked for, or throws `malformed_json` naming the field, never its content.

export function readObject(value: JsonValue | undefined, what: string): JsonObject {
  if (!isObject(value)) throw malformed(what);
  return value;
}

/** A member of the object itself: an inherited one, as of `constructor`, reads as absent. */
export function readMember(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function readArray(value: JsonValue | undefined, what: string, maxItems: number): readonly JsonValue[] {
  if (!isArray(value) || value.length > maxItems) throw malformed(what);
  return value;
}

export function readText(value: JsonValue | undefined, what: string, maxCharacters: number): string {
  if (typeof value !== 'string' || value.length > maxCharacters) throw malformed(what);
  return value;
}

/** A whole number, 1 or more unless `least` says otherwise. */
export function readInteger(value: JsonValue | undefined, what: string, least = 1): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) throw malformed(what);
  return value;
}

/** Bytes in base64url: exactly `length` of them, or at least one and at most `maxBytes`. */
export function readBytes(
  value: JsonValue | undefined,
  what: string,
  size: number | { readonly maxBytes: number },
): Uint8Array {
  const maxBytes = typeof size === 'number' ? size : size.maxBytes;
  const bytes = decodeBase64url(readText(value, what, Math.ceil((maxBytes * 4) / 3)));
  if (bytes === undefined || bytes.length === 0) throw malformed(what);
  if (typeof size === 'number' ? bytes.length !== size : bytes.length > maxBytes) throw malformed(what);
  return bytes;
}

function malformed(what: string): RollcallError<'malformed_json'> {
  return new RollcallError('malformed_json', { what });
}

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Members in a text that is known to be JSON. Refuses depth and every number that is not written as a whole one. */
function countWrittenMembers(text: string): number {
  let members = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case 0x3a: // :
        members += 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        if (depth > limits.jsonMaxDepth) throw malformed('depth');
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2e: // .
      case 0x45: // E
        throw malformed('number');
      case 0x65: // e: of `true` and `false`, or an exponent after a digit
        if (isDigit(text.charCodeAt(at - 1))) throw malformed('number');
        break;
    }
  }
  return members;
}

/** Where the closing quote of the string that opens at `open` is. */
function endOfString(text: string, open: number): number {
  let at = open + 1;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Members in a value, its own and those within. Refuses numbers that are not whole. The depth is known to be bounded. */
function countMembers(value: JsonValue): number {
  if (typeof value === 'number') assertWhole(value);
  if (typeof value !== 'object' || value === null) return 0;
  const items = isArray(value) ? value : Object.values(value);
  let members = isArray(value) ? 0 : items.length;
  for (const item of items) members += countMembers(item);
  return members;
}

function assertTextsWellFormed(value: JsonValue): void {
  if (typeof value === 'string') assertWellFormed(value);
  if (typeof value !== 'object' || value === null) return;
  if (!isArray(value)) for (const name of Object.keys(value)) assertWellFormed(name);
  for (const item of isArray(value) ? value : Object.values(value)) assertTextsWellFormed(item);
}

function assertWhole(value: number): void {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) throw malformed('number');
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Half a surrogate pair has no UTF-8: two different texts would be signed as the same replacement character. */
function assertWellFormed(text: string): void {
  if (LONE_SURROGATE.test(text)) throw malformed('encoding');
}

function writeCanonical(value: JsonValue, depth: number): string {
  if (depth > limits.jsonMaxDepth) throw malformed('depth');
  switch (typeof value) {
    case 'string':
      assertWellFormed(value);
      return JSON.stringify(value);
    case 'number':
      assertWhole(value);
      return String(value);
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (isArray(value)) return `[${value.map((item) => writeCanonical(item, depth + 1)).join(',')}]`;
      // RFC 8785 §3.2.3: sorted by UTF-16 code units, which is what sort() does.
      return `{${Object.keys(value)
        .sort()
        .map((name) => `${writeCanonical(name, depth)}:${writeCanonical(value[name] as JsonValue, depth + 1)}`)
        .join(',')}}`;
    default:
      throw malformed('value');
  }
}
