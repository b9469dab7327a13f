/**
 * Verifies the derived rung: a heartbeat bearer of exactly this host and life, under one of at most two live generations
 * (design 3). Prepared buffers, the same work for every answer, and one refusal.
 */
import { timingSafeEqual } from 'node:crypto';
import { joinNul, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { assertGeneration, type MasterGeneration } from '../keys/derivation.ts';
import { isHostId } from '../keys/names.ts';
import { HmacSha256, SHA256_BYTES, sha256Hex, writeLatin1 } from '../keys/sha256.ts';
import { limits } from '../limits.ts';

/** Returns the generation that the bearer was derived from; throws `unauthenticated`. */
export type BearerVerifier = (host: string, life: number, presented: string) => { readonly version: number };

export function createBearerVerifier(generations: readonly MasterGeneration[]): BearerVerifier {
  if (generations.length > limits.acceptedVersions)
    throw new TypeError('bearer verifier: more than two generations (I14)');
  if (new Set(generations.map(({ version }) => version)).size !== generations.length) {
    throw new TypeError('bearer verifier: one version twice');
  }
  const slots = generations.map(createSlot);
  const bearer = createBearerReader();
  return (host, life, presented) => {
    const isNamed = isHostId(host) && Number.isSafeInteger(life) && life >= 1;
    const isBearer = bearer.read(presented);
    let version = 0;
    // Every slot is computed and compared, whatever came before: time must not tell which generation is retiring, nor
    // whether a host is known (I13).
    for (const slot of slots) {
      slot.derive(isNamed ? host : DECOY_HOST, isNamed ? life : 1);
      const isEqual = timingSafeEqual(slot.expected, bearer.value);
      version += Number(isEqual) * slot.version;
    }
    if (version === 0 || !isNamed || !isBearer) throw new RollcallError('unauthenticated');
    return { version };
  };
}

/** One verification; prepare a verifier where there are many. */
export function verifyBearer(
  generations: readonly MasterGeneration[],
  host: string,
  life: number,
  presented: string,
): { readonly version: number } {
  return createBearerVerifier(generations)(host, life, presented);
}

const DECOY_HOST = '0';
const MAX_LIFE_DIGITS = 16;

/** One generation over its own buffers: what `deriveHostKey(master, 'heartbeat', host, life)` computes, without its allocations. */
function createSlot(generation: MasterGeneration) {
  assertGeneration(generation);
  const { prefix, hasLife } = messageForm(generation);
  const hmac = new HmacSha256(generation.master, prefix.length + limits.hostIdCharacters + 1 + MAX_LIFE_DIGITS + 1);
  hmac.message.set(prefix);
  const expected = Buffer.alloc(SHA256_BYTES);
  return {
    version: generation.version,
    expected,
    derive(host: string, life: number): void {
      let end = prefix.length + writeLatin1(hmac.message, host, prefix.length);
      if (hasLife) {
        hmac.message[end] = 0;
        end += 1 + writeLatin1(hmac.message, String(life), end + 1);
        hmac.message[end] = 1; // the block counter of HKDF-Expand
        end += 1;
      }
      hmac.macInto(expected, end);
    },
  };
}

/** All that comes before the host in the message of either scheme (design 3, Derivation). */
function messageForm({ scheme }: MasterGeneration): { prefix: Uint8Array; hasLife: boolean } {
  if (scheme?.name !== 'hmac-sha256') return { prefix: joinNul('rollcall/derive/v1', 'heartbeat', ''), hasLife: true };
  const info = scheme.info['heartbeat'];
  if (info === undefined) throw new TypeError('bearer verifier: the scheme has no info for heartbeat');
  return { prefix: joinNul(info, ''), hasLife: false };
}

const PREFIX = 'rcb_';
const CHECKSUM_BYTES = 4;
/** 36 bytes are 48 characters without a stray bit, so one value has one text. */
const BEARER = /^rcb_[A-Za-z0-9_-]{48}$/;

/** Reads `rcb_` tokens into one buffer. What is none leaves zeros there, and costs the same hashing. */
function createBearerReader() {
  const prefixed = Buffer.alloc(PREFIX.length + SHA256_BYTES + CHECKSUM_BYTES);
  prefixed.set(utf8(PREFIX));
  const checked = prefixed.subarray(0, PREFIX.length + SHA256_BYTES);
  return {
    value: prefixed.subarray(PREFIX.length, PREFIX.length + SHA256_BYTES),
    /** Whether `presented` is a bearer, of whatever host. */
    read(presented: unknown): boolean {
      const text = typeof presented === 'string' ? presented.trim() : '';
      const isFormed = BEARER.test(text);
      if (isFormed) prefixed.write(text.slice(PREFIX.length), PREFIX.length, 'base64url');
      else prefixed.fill(0, PREFIX.length);
      const checksum = Number.parseInt(sha256Hex(checked).slice(0, 2 * CHECKSUM_BYTES), 16);
      return prefixed.readUInt32BE(PREFIX.length + SHA256_BYTES) === checksum && isFormed;
    },
  };
}
