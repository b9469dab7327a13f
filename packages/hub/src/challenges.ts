/**
 * Challenges to whoever says that he holds a pinned key (design 3, Challenges and recovery). Until an answer proves something
 * a challenge costs no state: its id is the hub's own encrypted record of it. A host that is on no roll, or has no pin, gets
 * one that is sealed to a key which nobody has: of the same size, at the same cost (I13).
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { concatBytes, decodeHex, encodeBase64url, encodeHex, joinNul, utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Random } from '@rollcall/core/ports';
import {
  CHALLENGE_NONCE_BYTES,
  type Challenge,
  type ChallengeSubject,
  generateWrapKey,
  parseWrapPublicKey,
  sealChallenge,
  verifyAnswer,
} from '@rollcall/core/seal';
import type { Vault } from './kek/vault.ts';
import type { RollEntry } from './roll.ts';

export interface ProvenChallenge {
  /** SHA-256 of its id, in hex: to be recorded as spent in the acting transaction. */
  readonly id: string;
  /** Of the key that was proven. It counts only if it is the pin in the acting transaction. */
  readonly fingerprint: string;
  readonly expiresAtMs: number;
}

export interface Challenges {
  /** `entry`: of the host that is claimed, where it is on the roll. */
  issue(asked: {
    readonly host: string;
    readonly purpose: ChallengeSubject['purpose'];
    readonly entry: RollEntry | undefined;
    readonly nowMs: number;
  }): Challenge;
  /** Which key was proven for exactly this subject, or `unauthenticated`, alike for everyone (I13). */
  verify(
    presented: { readonly id: Uint8Array; readonly answer: Uint8Array },
    claim: { readonly host: string; readonly subject: ChallengeSubject; readonly nowMs: number },
  ): ProvenChallenge;
}

export function createChallenges({ vault, random }: { readonly vault: Vault; readonly random: Random }): Challenges {
  // Of the key-encryption key, so that a restart or another replica takes what this one gave out.
  const key = vault.mac('challenge_ids', { label: 'rollcall/challenge-id/v1' });
  const nobody = encodeBase64url(generateWrapKey(random).public.bytes);
  return {
    issue({ host, purpose, entry, nowMs }) {
      const pinned = entry?.pinState === 'pinned' ? entry.pinPublicText : nobody;
      const recipient = parseWrapPublicKey({ suite: 'x25519', public: pinned });
      const nonce = random(CHALLENGE_NONCE_BYTES);
      const expiresAtMs = nowMs + limits.challengeMs;
      const record = { host, purpose, fingerprint: recipient.fingerprint, nonce, expiresAtMs };
      return sealChallenge({ host, purpose, recipient, id: sealId(key, record, random), nonce, random });
    },
    verify({ id, answer }, { host, subject, nowMs }) {
      const record = openId(key, id);
      // What is no id of this hub is verified too, against a nonce that nobody was given.
      verifyAnswer(answer, { nonce: record?.nonce ?? random(CHALLENGE_NONCE_BYTES), host, subject });
      const isMeant = record !== undefined && timingSafeEqual(record.claim, claimOf(host, subject.purpose));
      if (!isMeant || record.expiresAtMs <= nowMs) throw new RollcallError('unauthenticated');
      const { fingerprint, expiresAtMs } = record;
      return { id: encodeHex(createHash('sha256').update(id).digest()), fingerprint, expiresAtMs };
    },
  };
}

/** Of an id: a salt, expiry, nonce, fingerprint, what it is claimed for, a tag. All of fixed length, so that all are of one size. */
const SALT_BYTES = 32;
const EXPIRY_BYTES = 8;
const DIGEST_BYTES = 32;
const TAG_BYTES = 16;
const BODY_BYTES = EXPIRY_BYTES + CHALLENGE_NONCE_BYTES + 2 * DIGEST_BYTES;
/** The key is of one record alone, so its nonce may be the same for all. */
const GCM_NONCE = new Uint8Array(12);

function sealId(
  key: Uint8Array,
  record: { host: string; purpose: string; fingerprint: string; nonce: Uint8Array; expiresAtMs: number },
  random: Random,
): Uint8Array {
  const salt = random(SALT_BYTES);
  const expiry = Buffer.alloc(EXPIRY_BYTES);
  expiry.writeBigUInt64BE(BigInt(record.expiresAtMs));
  const fingerprint = decodeHex(record.fingerprint) ?? new Uint8Array(DIGEST_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(key, salt), GCM_NONCE, { authTagLength: TAG_BYTES });
  const plain = concatBytes(expiry, record.nonce, fingerprint, claimOf(record.host, record.purpose));
  return concatBytes(salt, cipher.update(plain), cipher.final(), cipher.getAuthTag());
}

function openId(key: Uint8Array, id: Uint8Array) {
  if (id.length !== SALT_BYTES + BODY_BYTES + TAG_BYTES) return undefined;
  const salt = id.subarray(0, SALT_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', keyOf(key, salt), GCM_NONCE, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(id.subarray(SALT_BYTES + BODY_BYTES));
  try {
    const opened = decipher.update(id.subarray(SALT_BYTES, SALT_BYTES + BODY_BYTES));
    const plain = Uint8Array.from(Buffer.concat([opened, decipher.final()]));
    const fingerprintAt = EXPIRY_BYTES + CHALLENGE_NONCE_BYTES;
    return {
      expiresAtMs: Number(Buffer.from(plain.subarray(0, EXPIRY_BYTES)).readBigUInt64BE()),
      nonce: plain.subarray(EXPIRY_BYTES, fingerprintAt),
      fingerprint: encodeHex(plain.subarray(fingerprintAt, fingerprintAt + DIGEST_BYTES)),
      claim: plain.subarray(fingerprintAt + DIGEST_BYTES),
    };
  } catch {
    return undefined; // not of this hub: what follows refuses it as it refuses a wrong answer
  }
}

function keyOf(key: Uint8Array, salt: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(salt).digest();
}

function claimOf(host: string, purpose: string): Uint8Array {
  return createHash('sha256')
    .update(joinNul(utf8('rollcall/challenge-claim/v1'), purpose, host))
    .digest();
}
