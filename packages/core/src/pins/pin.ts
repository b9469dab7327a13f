/** What the hub holds about one host's wrap key: the pin, what it was trusted on, and what challenges it (design 3). */

import { RollcallError } from '../errors.ts';

/** Lower-case hex of SHA-256(suite 0 public bytes): 64 characters, never fewer. */
export type Fingerprint = string;

/** What a pin was trusted on. */
export type Anchor = 'enrolment' | 'first-use' | 'operator';

/** `removed` is no status: a removed host is not on the roll. */
export type HostStatus = 'invited' | 'active' | 'suspended' | 'evicted';

/** The pin as read from the store. Unreadable is not absent (I10). */
export type HeldPin =
  | { readonly state: 'none' }
  | { readonly state: 'unreadable' }
  | {
      readonly state: 'pinned';
      readonly fingerprint: Fingerprint;
      readonly anchor: Anchor;
      /** The key before this one, during the overlap of a planned rotation of the wrap key. */
      readonly previous: Fingerprint | null;
    };

/** A key that was published against a pin and not taken. It counts only while that pin stands. */
export interface PendingPin {
  readonly fingerprint: Fingerprint;
  /** The pin that it challenges. */
  readonly challenges: Fingerprint;
}

/** Everything that the decisions about one host's pin look at. */
export interface HeldPins {
  readonly status: HostStatus;
  /** Evicted with `--ban`: may not even enrol. */
  readonly banned: boolean;
  readonly pin: HeldPin;
  /** A fingerprint that an operator approved before it was published. */
  readonly approved: Fingerprint | null;
  /** The one fingerprint that was accepted for this host when first use was turned on. */
  readonly firstUse: Fingerprint | null;
  readonly pendings: readonly PendingPin[];
}

/**
 * A new pin record. Whoever stores it replaces the old record by it whole, and drops with it the approval, the
 * accepted first-use fingerprint and every pending change of the host: all of them were about the pin that was.
 */
export interface NewPin {
  readonly fingerprint: Fingerprint;
  readonly anchor: Anchor;
  readonly previous: Fingerprint | null;
  /** Whether the host's life rises in the same transaction, so that keys derived for the former life die. */
  readonly raisesLife: boolean;
}

const FINGERPRINT = /^[0-9a-f]{64}$/;

/** A whole fingerprint, or `malformed_fingerprint`: a prefix could be ground by a thief. */
export function parseFingerprint(text: unknown): Fingerprint {
  if (typeof text !== 'string' || !FINGERPRINT.test(text)) throw new RollcallError('malformed_fingerprint');
  return text;
}

/** The pending changes that challenge the pin that stands now. */
export function livePendings(held: HeldPins): readonly PendingPin[] {
  const { pin } = held;
  if (pin.state !== 'pinned') return [];
  return held.pendings.filter((pending) => pending.challenges === pin.fingerprint);
}
