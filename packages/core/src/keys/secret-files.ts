/** Files that people write by hand: white space at the end is theirs, a byte-order mark is an editor's and is refused. */
import { RollcallError } from '../errors.ts';
import { limits } from '../limits.ts';
import { SecretBytes } from './secret-bytes.ts';

/**
 * The master of an imported fleet: the bytes as they are, never decoded, trailing white space trimmed (design 11).
 * Throws `byte_order_mark`, `weak_secret` below 32 bytes, `malformed_file` above the limit.
 */
export function parseMasterFile(bytes: Uint8Array): SecretBytes<'master'> {
  assertNoByteOrderMark(bytes);
  const master = trimEnd(bytes);
  if (master.length < limits.masterMinBytes) throw new RollcallError('weak_secret');
  if (master.length > limits.masterMaxBytes) throw new RollcallError('malformed_file', { what: 'length' });
  return new SecretBytes('master', master);
}

const TOKEN_TEXT = /^[\x21-\x7e]+$/;

/** The text of the one token in a file; throws `byte_order_mark`, or `malformed_file`. */
export function parseTokenFile(bytes: Uint8Array): string {
  assertNoByteOrderMark(bytes);
  // latin1, since it takes any byte: what is not visible ASCII is then refused below, and not replaced before.
  const text = Buffer.from(bytes).toString('latin1').trim();
  if (text.length > limits.tokenTextMaxCharacters || !TOKEN_TEXT.test(text))
    throw new RollcallError('malformed_file', { hint: 'One token is to stand in it, on one line, and nothing else.' });
  return text;
}

function assertNoByteOrderMark(bytes: Uint8Array): void {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw new RollcallError('byte_order_mark');
}

/** Space, and the five ASCII controls that `isspace` counts: tab, line feed, vertical tab, form feed, carriage return. */
function trimEnd(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && isSpace(bytes[end - 1] as number)) end -= 1;
  return bytes.subarray(0, end);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
