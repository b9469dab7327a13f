/** Bytes and their text forms. Decoders are strict: one value has one text. */

const encoder = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const HEX_PATTERN = /^(?:[0-9a-f]{2})*$/;
const BASE64URL_PATTERN = /^[A-Za-z0-9_-]*$/;

/** UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Text of UTF-8 bytes, or `undefined` when they are not UTF-8. A byte-order mark is kept, never swallowed. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Lower-case hex. */
export function encodeHex(bytes: Uint8Array): string {
  return view(bytes).toString('hex');
}

/** Bytes of lower-case hex, or `undefined` when it is anything else. */
export function decodeHex(text: string): Uint8Array | undefined {
  return HEX_PATTERN.test(text) ? plain(Buffer.from(text, 'hex')) : undefined;
}

/** Base64url without padding (RFC 4648 §5). */
export function encodeBase64url(bytes: Uint8Array): string {
  return view(bytes).toString('base64url');
}

/** Bytes of base64url without padding, or `undefined` for any other text, stray bits of the last character included. */
export function decodeBase64url(text: string): Uint8Array | undefined {
  if (!BASE64URL_PATTERN.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? plain(bytes) : undefined;
}

/** All parts, one after the other. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/**
 * Parts joined by one NUL byte, as design 11 writes them (`a 0 b 0 c`). Texts and decimals are ASCII and may not
 * contain a NUL themselves, so that no two lists of parts give the same bytes; raw parts have a fixed length.
 */
export function joinNul(...parts: readonly (string | number | Uint8Array)[]): Uint8Array {
  const separated: Uint8Array[] = [];
  for (const [index, part] of parts.entries()) {
    if (index > 0) separated.push(NUL);
    separated.push(typeof part === 'object' ? part : asciiPart(String(part)));
  }
  return concatBytes(...separated);
}

/** Whether two byte strings are the same. Not constant in time: for public values only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && view(a).equals(b);
}

const NUL = new Uint8Array(1);
const ASCII_PART = /^[\x01-\x7f]*$/;

function asciiPart(text: string): Uint8Array {
  if (!ASCII_PART.test(text)) throw new TypeError('joinNul: a text part must be ASCII without NUL');
  return utf8(text);
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A `Uint8Array` of its own memory: a Buffer from the shared pool would lay neighbours' bytes open. */
function plain(buffer: Buffer): Uint8Array {
  return Uint8Array.from(buffer);
}
