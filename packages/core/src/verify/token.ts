/** Verifies a shared token of which one version is current and at most one other is coming or going (design 3, Verifier). */
import { hash } from 'node:crypto';
import { RollcallError } from '../errors.ts';
import { SHA256_BYTES } from '../keys/sha256.ts';
import { limits } from '../limits.ts';

export type TokenRole = 'current' | 'next' | 'retiring';

/** One version of a token: its text as it is presented. */
export interface TokenVersion {
  readonly version: number;
  readonly value: string;
}

/** `current` always; `next` while a rotation widens, `retiring` while it narrows; never both (I14). */
export interface TokenSet {
  readonly current: TokenVersion;
  readonly next?: TokenVersion;
  readonly retiring?: TokenVersion;
  /** Takes values below 22 characters, which can be guessed; readiness reports it. */
  readonly weak?: boolean;
}

export interface TokenVerifier {
  /** Which version was presented; throws `unauthenticated`. White space around it is not part of a token. */
  verify(presented: string): { readonly version: number; readonly role: TokenRole };
  /** How often each role was presented since the verifier was made. */
  hits(): Readonly<Record<TokenRole, number>>;
}

/** Throws `weak_secret` or `malformed_token` for a value that must never be accepted, an empty one above all. */
export function createTokenVerifier(set: TokenSet): TokenVerifier {
  if (set.next !== undefined && set.retiring !== undefined) {
    throw new TypeError('token verifier: more than two versions (I14)');
  }
  const slots: readonly Slot[] = (['current', 'next', 'retiring'] as const).flatMap((role) => {
    const entry = set[role];
    return entry === undefined
      ? []
      : [{ verified: Object.freeze({ version: entry.version, role }), digest: digestOf(parseValue(entry.value, set)) }];
  });
  if (slots[0]?.verified.role !== 'current') throw new TypeError('token verifier: there is no current version');
  assertDifferent(slots);
  // By slot: found by the name of its role, a count would cost one role more time than another.
  const counts = slots.map(() => 0);
  const digest = newDigest();
  return {
    verify(presented) {
      digestInto(digest, typeof presented === 'string' ? presented.trim() : '');
      // Digests are compared, and with every slot: time tells neither a length nor which version is on its way out.
      // A bit for each slot: shifted, since a product of 0 has a sign that is looked at. There are two, so the first is 1 and the second 2.
      let matches = 0;
      for (let index = 0; index < slots.length; index += 1) {
        matches |= isEqual(digest, (slots[index] as Slot).digest) << index;
      }
      const found = matches - 1;
      const slot = slots[found];
      if (slot === undefined) throw new RollcallError('unauthenticated');
      counts[found] = (counts[found] as number) + 1;
      return slot.verified;
    },
    hits: () => {
      const hits = { current: 0, next: 0, retiring: 0 };
      for (const [index, slot] of slots.entries()) hits[slot.verified.role] = counts[index] as number;
      return hits;
    },
  };
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

function parseValue(value: unknown, { weak = false }: TokenSet): string {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text.length < (weak ? 1 : limits.importedTokenMinCharacters)) throw new RollcallError('weak_secret');
  if (text.length > limits.importedTokenMaxCharacters || !VISIBLE_ASCII.test(text)) {
    throw new RollcallError('malformed_token');
  }
  return text;
}

interface Slot {
  readonly verified: { readonly version: number; readonly role: TokenRole };
  readonly digest: Digest;
}

function assertDifferent(slots: readonly Slot[]): void {
  const [first, second] = slots;
  if (first === undefined || second === undefined) return;
  if (first.verified.version === second.verified.version) throw new TypeError('token verifier: one version twice');
  // A rotation to the same value would look finished, and would have changed nothing.
  if (isEqual(first.digest, second.digest) === 1) throw new TypeError('token verifier: two versions have one value');
}

/** SHA-256, as words of 32 bits. */
type Digest = Int32Array;

function newDigest(): Digest {
  return new Int32Array(SHA256_BYTES / Int32Array.BYTES_PER_ELEMENT);
}

function digestOf(text: string): Digest {
  const digest = newDigest();
  digestInto(digest, text);
  return digest;
}

/** By a text of one character per byte: that takes a third of the time that a digest as a new Buffer does. */
function digestInto(digest: Digest, text: string): void {
  const bytes = hash('sha256', text, 'binary');
  for (let word = 0, at = 0; word < digest.length; word += 1, at += 4) {
    digest[word] =
      bytes.charCodeAt(at) |
      (bytes.charCodeAt(at + 1) << 8) |
      (bytes.charCodeAt(at + 2) << 16) |
      (bytes.charCodeAt(at + 3) << 24);
  }
}

/**
 * 1 or 0. Every word is looked at, and nothing is decided by one before the end. Of digests, so that not even a comparison that told
 * more would tell anything of a token; `timingSafeEqual` wants Buffers, and would cost half as much again as the hash.
 */
function isEqual(a: Digest, b: Digest): number {
  let difference = 0;
  for (let word = 0; word < a.length; word += 1) difference |= (a[word] as number) ^ (b[word] as number);
  // The highest bit of one of the two is set, unless both are 0.
  return ((difference | -difference) >>> 31) ^ 1;
}
