/**
 * HKDF-SHA256 (RFC 5869) as its two halves. Node's `hkdfSync` offers neither half alone, and HPKE needs both; it also
 * refuses an info above 1,024 bytes (design 4).
 */
import { concatBytes } from '../bytes.ts';
import { hmacSha256, SHA256_BYTES } from './sha256.ts';

/** RFC 5869 §2.2, of the parts of `ikm` one after the other. An empty salt stands for 32 zero bytes, which HMAC pads to the same block. */
export function hkdfExtract(salt: Uint8Array, ...ikm: readonly Uint8Array[]): Uint8Array {
  return hmacSha256(salt, ...ikm);
}

/** RFC 5869 §2.3, with the parts of `info` one after the other. */
export function hkdfExpand(prk: Uint8Array, lengthBytes: number, ...info: readonly Uint8Array[]): Uint8Array {
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 1 || lengthBytes > 255 * SHA256_BYTES) {
    throw new RangeError('hkdfExpand: length must be 1 to 8160 bytes');
  }
  let block = hmacSha256(prk, ...info, Uint8Array.of(1));
  if (lengthBytes === SHA256_BYTES) return block;
  if (lengthBytes < SHA256_BYTES) return block.slice(0, lengthBytes);
  const blocks = [block];
  for (let index = 2; blocks.length * SHA256_BYTES < lengthBytes; index += 1) {
    block = hmacSha256(prk, block, ...info, Uint8Array.of(index));
    blocks.push(block);
  }
  return concatBytes(...blocks).slice(0, lengthBytes);
}
