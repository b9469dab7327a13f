/** SHA-256 and HMAC-SHA256, in the form of node:crypto that is fast for short messages. */
import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;
export const SHA256_BYTES = 32;

export function sha256(bytes: Uint8Array): Uint8Array {
  const digest = hash('sha256', bytes, 'buffer');
  return new Uint8Array(digest.buffer, digest.byteOffset, digest.length);
}

/** SHA-256 in lower-case hex. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/**
 * HMAC-SHA256 (RFC 2104) under one key, over buffers made once: write a message into `message`, then take its MAC.
 * Two `hash` calls cost a fraction of `createHmac`, which sets up an OpenSSL context for each MAC (design 2).
 */
export class HmacSha256 {
  /** Where the message goes; as long as the longest that was asked for. */
  readonly message: Buffer;
  readonly #inner: Buffer;
  readonly #outer: Buffer;

  constructor(key: Uint8Array, maxMessageBytes: number) {
    const shortKey = key.length > BLOCK_BYTES ? sha256(key) : key;
    // Not allocUnsafe: its pool is shared with buffers that others may read past.
    this.#inner = Buffer.alloc(BLOCK_BYTES + maxMessageBytes);
    this.#outer = Buffer.alloc(BLOCK_BYTES + SHA256_BYTES);
    for (let at = 0; at < BLOCK_BYTES; at += 1) {
      const byte = shortKey[at] ?? 0;
      this.#inner[at] = byte ^ 0x36;
      this.#outer[at] = byte ^ 0x5c;
    }
    this.message = this.#inner.subarray(BLOCK_BYTES);
  }

  /** MAC of the first `messageBytes` of `message`, written to the start of `target`. */
  macInto(target: Buffer, messageBytes: number): void {
    // A digest as text, written back, is quicker than one as a new Buffer: 0.4 µs against 0.7.
    this.#outer.write(hash('sha256', this.#inner.subarray(0, BLOCK_BYTES + messageBytes), 'hex'), BLOCK_BYTES, 'hex');
    target.write(hash('sha256', this.#outer, 'hex'), 0, 'hex');
  }
}

/** HMAC-SHA256 of the parts, one after the other. */
export function hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const hmac = new HmacSha256(key, length);
  let at = 0;
  for (const part of parts) {
    hmac.message.set(part, at);
    at += part.length;
  }
  const mac = Buffer.alloc(SHA256_BYTES);
  hmac.macInto(mac, length);
  return new Uint8Array(mac.buffer, mac.byteOffset, mac.length);
}
