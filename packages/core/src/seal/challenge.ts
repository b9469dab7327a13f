/** Challenges: a nonce sealed to the pin, answered by whoever holds the private half (design 3, Challenges and recovery). */
import { timingSafeEqual } from 'node:crypto';
import { encodeBase64url, joinNul, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { type JsonObject, type JsonValue, readBytes, readMember, readObject } from '../json.ts';
import { type CsrUse, csrBinding, INSTANCE_BYTES } from '../keys/enrolment-proof.ts';
import { parseHostId, parsePurpose } from '../keys/names.ts';
import { hmacSha256, sha256 } from '../keys/sha256.ts';
import { limits } from '../limits.ts';
import { refusedAs } from '../refused-as.ts';
import { ENC_BYTES } from './dhkem.ts';
import { rawFingerprint } from './envelope.ts';
import { openBase, sealBase } from './hpke.ts';
import { type WrapKeyPair, WrapPublicKey } from './wrap-key.ts';

export const CHALLENGE_NONCE_BYTES = 32;

/** What an answer is for; it proves the pinned key for this and nothing else. */
export type ChallengeSubject =
  | { readonly purpose: 'continuity'; readonly next: WrapPublicKey }
  | { readonly purpose: 'certificate'; readonly csr: Uint8Array; readonly csrUse: CsrUse }
  | { readonly purpose: 'recovery'; readonly instance: Uint8Array };

export type ChallengePurpose = ChallengeSubject['purpose'];

/** As it travels. It names neither host nor key: to a stranger a decoy looks the same. */
export interface Challenge extends JsonObject {
  readonly id: string;
  readonly purpose: string;
  readonly enc: string;
  readonly ct: string;
}

export interface SealChallengeInput {
  readonly host: string;
  readonly purpose: ChallengePurpose;
  /** The pin, or any key for a decoy. */
  readonly recipient: WrapPublicKey;
  /** Opaque to all but the hub: its own encrypted record of host, purpose, fingerprint, nonce and expiry. */
  readonly id: Uint8Array;
  /** 32 random bytes. From the caller, since its record holds them too. */
  readonly nonce: Uint8Array;
  readonly random: (n: number) => Uint8Array;
}

export function sealChallenge({ host, purpose, recipient, id, nonce, random }: SealChallengeInput): Challenge {
  if (!(recipient instanceof WrapPublicKey)) throw new TypeError('sealChallenge: recipient must be a wrap key');
  if (nonce.length !== CHALLENGE_NONCE_BYTES) throw new TypeError('sealChallenge: nonce must be 32 bytes');
  if (id.length === 0 || id.length > limits.challengeIdMaxBytes) throw new TypeError('sealChallenge: length of id');
  const aad = challengeAad(host, purpose, recipient, id);
  const { enc, ct } = sealBase({ recipient, info: CHALLENGE_INFO, aad, plaintext: nonce, random });
  return { id: encodeBase64url(id), purpose, enc: encodeBase64url(enc), ct: encodeBase64url(ct) };
}

/**
 * The answer of this host; throws `challenge_malformed`, or `challenge_unopenable` when none of its keys opens it for
 * this host and purpose.
 */
export function answerChallenge(
  json: JsonValue,
  { host, wrapKeys, subject }: { host: string; wrapKeys: readonly WrapKeyPair[]; subject: ChallengeSubject },
): { readonly id: Uint8Array; readonly answer: Uint8Array } {
  const { id, purpose, enc, ct } = refusedAs('challenge_malformed', () => parseChallenge(json));
  // The host answers for what it set out to do, never for what it is told that the challenge is for.
  if (purpose !== subject.purpose) throw new RollcallError('challenge_unopenable', { what: 'purpose' });
  for (const wrapKey of wrapKeys) {
    const nonce = tryOpen(wrapKey, enc, ct, challengeAad(host, subject.purpose, wrapKey.public, id));
    if (nonce !== undefined) return { id, answer: answerOf(nonce, host, subject) };
  }
  throw new RollcallError('challenge_unopenable');
}

/** The subject that is proven; throws `unauthenticated`. Whether the pin still is the challenge's is the caller's to check. */
export function verifyAnswer(
  answer: Uint8Array,
  { nonce, host, subject }: { nonce: Uint8Array; host: string; subject: ChallengeSubject },
): ChallengeSubject {
  const expected = answerOf(nonce, host, subject);
  if (answer.length !== expected.length || !timingSafeEqual(answer, expected))
    throw new RollcallError('unauthenticated');
  return subject;
}

const CHALLENGE_INFO = utf8('rollcall/challenge/v1');
const SEALED_NONCE_BYTES = CHALLENGE_NONCE_BYTES + 16;

/** host 0 purpose 0 fingerprint 0 SHA-256(id). */
function challengeAad(host: string, purpose: string, recipient: WrapPublicKey, id: Uint8Array): Uint8Array {
  return joinNul(parseHostId(host), parsePurpose(purpose), rawFingerprint(recipient.fingerprint), sha256(id));
}

function tryOpen(wrapKey: WrapKeyPair, enc: Uint8Array, ct: Uint8Array, aad: Uint8Array): Uint8Array | undefined {
  try {
    return openBase({ privateKey: wrapKey.private, enc, info: CHALLENGE_INFO, aad, ct });
  } catch (error) {
    // Sealed to another key that this host holds: not mine is a value, here.
    if (error instanceof RollcallError && error.code === 'open_failed') return undefined;
    throw error;
  }
}

/** HMAC-SHA256(nonce, "rollcall/answer/v1" 0 purpose 0 host 0 context). */
function answerOf(nonce: Uint8Array, host: string, subject: ChallengeSubject): Uint8Array {
  if (nonce.length !== CHALLENGE_NONCE_BYTES) throw new TypeError('answer: nonce must be 32 bytes');
  return hmacSha256(nonce, joinNul('rollcall/answer/v1', subject.purpose, parseHostId(host), contextOf(subject)));
}

function contextOf(subject: ChallengeSubject): Uint8Array {
  switch (subject.purpose) {
    case 'continuity':
      return subject.next.bytes;
    case 'certificate':
      return csrBinding(subject.csr, subject.csrUse);
    case 'recovery':
      if (subject.instance.length !== INSTANCE_BYTES) throw new TypeError('answer: instance must be 16 bytes');
      return subject.instance;
  }
}

function parseChallenge(json: JsonValue) {
  const value = readObject(json, 'challenge');
  return {
    id: readBytes(readMember(value, 'id'), 'id', { maxBytes: limits.challengeIdMaxBytes }),
    purpose: parsePurpose(readMember(value, 'purpose')),
    enc: readBytes(readMember(value, 'enc'), 'enc', ENC_BYTES),
    ct: readBytes(readMember(value, 'ct'), 'ct', SEALED_NONCE_BYTES),
  };
}
