/**
 * The kinds of text that a message may carry. Every string of every schema is made here and names its kind, so that a
 * test can walk all schemas and show that no answer has a field in which a secret would fit (I3, I12).
 */

import { limits } from '@rollcall/core/limits';
import { type TString, Type } from 'typebox';

/** Kinds that are safe in an answer: public, hashed, sealed, or written by Rollcall itself. */
export type SafeTextKind =
  | 'host-id'
  | 'name'
  | 'time'
  | 'fingerprint'
  | 'public-key'
  | 'ciphertext'
  | 'signature'
  | 'digest'
  | 'instance'
  | 'certificate'
  | 'word'
  | 'sentence'
  | 'network-address';

/** `proof` comes in only; `secret-in` comes in over an operator's socket; `shown-once` leaves in one named verb only. */
export type TextKind = SafeTextKind | 'proof' | 'secret-in' | 'shown-once';

const BASE64URL = '^[A-Za-z0-9_-]*$';

function text(kind: TextKind, options: { minLength?: number; maxLength: number; pattern?: string }): TString {
  return Type.String({ ...options, kind });
}

export const hostId = (): TString =>
  text('host-id', {
    maxLength: limits.hostIdCharacters,
    pattern: '^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$',
  });
/** Name of a secret or purpose. */
export const name = (): TString =>
  text('name', { maxLength: limits.secretNameCharacters, pattern: '^[a-z0-9-]{1,64}$' });
/** What a rotation turns: a secret, or `rung:` and the rung that it closes. */
export const rotated = (): TString =>
  text('name', { maxLength: limits.secretNameCharacters + 5, pattern: '^(rung:)?[a-z0-9-]{1,64}$' });
/** RFC 3339 in UTC. */
export const time = (): TString => text('time', { maxLength: 40, pattern: '^\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z$' });
/** Lower-case hex SHA-256. */
export const fingerprint = (): TString => text('fingerprint', { maxLength: 64, pattern: '^[0-9a-f]{64}$' });
/** 32 bytes, base64url. */
export const publicKey = (): TString => text('public-key', { maxLength: 64, pattern: BASE64URL });
/** The hub’s own encrypted record of a challenge, base64url. */
export const challengeId = (): TString =>
  text('ciphertext', { maxLength: Math.ceil((limits.challengeIdMaxBytes * 4) / 3), pattern: BASE64URL });
export const ciphertext = (): TString => text('ciphertext', { maxLength: limits.envelopeMaxBytes, pattern: BASE64URL });
export const signature = (): TString => text('signature', { maxLength: 128, pattern: BASE64URL });
/** SHA-256, base64url. */
export const digest = (): TString => text('digest', { maxLength: 43, pattern: BASE64URL });
/** 16 random bytes of one start of an agent, base64url. */
export const instance = (): TString => text('instance', { minLength: 22, maxLength: 22, pattern: BASE64URL });
/** HMAC-SHA256, base64url. */
export const proof = (): TString => text('proof', { minLength: 43, maxLength: 43, pattern: BASE64URL });
/** DER, base64url. */
export const certificate = (): TString => text('certificate', { maxLength: 16_384, pattern: '^[A-Za-z0-9_+/=-]*$' });
/** One word out of a closed vocabulary that is given elsewhere: an error code, a phase, a state. */
export const word = (): TString => text('word', { maxLength: 64, pattern: '^[A-Za-z0-9_.:-]*$' });
/** A member of a rotation: a host id, `caller:NAME` for a caller that is no host, `all` for every host of the roll. */
export const member = (): TString => text('word', { maxLength: 135, pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]*$' });
/** A whole number in a query. */
export const digits = (): TString => text('word', { maxLength: 15, pattern: '^[0-9]{1,15}$' });
/** A sentence for a person. */
export const sentence = (maxLength = 1_000): TString => text('sentence', { maxLength });
export const networkAddress = (): TString => text('network-address', { maxLength: 300 });
/** A value that an operator hands in; never answered. */
export const secretIn = (maxLength: number): TString => text('secret-in', { maxLength });
/** A token that an operator's verb creates and shows, once. */
export const shownOnce = (): TString => text('shown-once', { maxLength: limits.tokenTextMaxCharacters });
