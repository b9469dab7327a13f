/** SHA-256 and HMAC-SHA256, in the form of node:crypto that is fast for short messages. */
import { createHmac, hash } from 'node:crypto';

export const SHA256_BYTES = 32;

export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.from(hash('sha256', bytes, 'hex'), 'hex'));
}

/** SHA-256 in lower-case hex. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** HMAC-SHA256 (RFC 2104) of the parts, one after the other. */
export function hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length > SHORT_MESSAGE_BYTES) return hmacOfLong(key, parts);
  short.rekey(key);
  let at = 0;
  for (const part of parts) {
    short.message.set(part, at);
    at += part.length;
  }
  return short.mac(length);
}

const BLOCK_BYTES = 64;

/**
 * HMAC-SHA256 over buffers made once: write a message into `message`, then take its MAC. Two `hash` calls cost a
 * fraction of `createHmac`, which sets up an OpenSSL context for each MAC (design 2).
 */
export class HmacSha256 {
  /** Where the message goes. */
  readonly message: Buffer;
  readonly #inner: Buffer;
  readonly #outer: Buffer;
  readonly #mac: Buffer;
  /** What is hashed of a message, by its length: as many as there are lengths, where one for each MAC would be garbage. */
  readonly #views: Buffer[] = [];

  constructor(key: Uint8Array, maxMessageBytes: number) {
    // Not allocUnsafe: its pool is shared with buffers that others may read past.
    this.#inner = Buffer.alloc(BLOCK_BYTES + maxMessageBytes);
    this.#outer = Buffer.alloc(BLOCK_BYTES + SHA256_BYTES);
    this.#mac = Buffer.alloc(SHA256_BYTES);
    this.message = this.#inner.subarray(BLOCK_BYTES);
    this.rekey(key);
  }

  rekey(key: Uint8Array): void {
    const block = key.length > BLOCK_BYTES ? sha256(key) : key;
    for (let at = 0; at < BLOCK_BYTES; at += 1) {
      const byte = at < block.length ? (block[at] as number) : 0;
      this.#inner[at] = byte ^ 0x36;
      this.#outer[at] = byte ^ 0x5c;
    }
  }

  /** MAC of the first `messageBytes` of `message`. */
  mac(messageBytes: number): Uint8Array {
    this.macInto(this.#mac, messageBytes);
    return new Uint8Array(this.#mac);
  }

  /** The same, written to the start of `target`. */
  macInto(target: Buffer, messageBytes: number): void {
    // A digest as a text of one character per byte, written back, is quicker than one as a new Buffer, and leaves less garbage.
    this.#views[messageBytes] ??= this.#inner.subarray(0, BLOCK_BYTES + messageBytes);
    const inner = hash('sha256', this.#views[messageBytes], 'binary');
    writeLatin1(this.#outer, inner, BLOCK_BYTES);
    writeLatin1(target, hash('sha256', this.#outer, 'binary'), 0);
  }
}

/** One character, one byte; returns how many. For a few of them this is quicker than `Buffer.write`, which leaves compiled code. */
export function writeLatin1(target: Uint8Array, text: string, at: number): number {
  for (let index = 0; index < text.length; index += 1) target[at + index] = text.charCodeAt(index);
  return text.length;
}

/** Above what any statement of ours or of HPKE's key schedule is long. */
const SHORT_MESSAGE_BYTES = 512;

/** Scratch for `hmacSha256`, which writes all that it reads and runs to its end before anyone else may use it. */
const short = new HmacSha256(new Uint8Array(), SHORT_MESSAGE_BYTES);

function hmacOfLong(key: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return new Uint8Array(hmac.digest());
}
