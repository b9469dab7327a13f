/** What is decided about a publication. Whoever calls does exactly what it says, in one transaction. */

import type { Fingerprint, NewPin } from './pin.ts';

/** `pin` of the heartbeat answer (design 11). `fingerprint` always names the pin that stands. */
export interface PinAnswer {
  readonly state: 'none' | 'not_accepted' | 'pinned' | 'pending' | 'unusable';
  readonly fingerprint?: Fingerprint;
}

/** `expected` is what the hub held or had accepted. */
export interface PinAlert {
  readonly code: 'pin_challenged' | 'pin_replaced' | 'first_use_other_key';
  readonly expected: Fingerprint;
  readonly published: Fingerprint;
}

export type PublicationCount =
  | 'agent_too_old'
  | 'fleet_token'
  | 'not_accepted'
  | 'pending_overflow'
  | 'trust_frozen'
  | 'unusable_key';

export type PublicationDecision =
  /** The host is not let in: the constant refusal, or for an enrolment without a usable key that code. Nothing changes. */
  | { readonly kind: 'refused'; readonly code: 'unauthenticated' | 'malformed_key' }
  /** 503, nothing changes, an enrolment token stays good. */
  | { readonly kind: 'unavailable'; readonly because: 'pin_unreadable' | 'trust_frozen' }
  /** The pin becomes `pin`. */
  | { readonly kind: 'taken'; readonly pin: NewPin; readonly alert: PinAlert | null; readonly answer: PinAnswer }
  /** The pin itself, or the one before it, was published: its last-seen is noted. This proves no possession. */
  | {
      readonly kind: 'seen';
      readonly fingerprint: Fingerprint;
      readonly as: 'pin' | 'previous';
      readonly answer: PinAnswer;
    }
  /** A new pending change is stored, or (`isNew` false) its last-seen is noted. */
  | {
      readonly kind: 'pending';
      readonly fingerprint: Fingerprint;
      readonly challenges: Fingerprint;
      readonly isNew: boolean;
      readonly alert: PinAlert | null;
      readonly answer: PinAnswer;
    }
  /** The key of a host without a pin: remembered as what it shows, for `pin exposure`; not trusted. */
  | {
      readonly kind: 'observed';
      readonly fingerprint: Fingerprint;
      readonly alert: PinAlert | null;
      readonly counted: 'not_accepted';
      readonly answer: PinAnswer;
    }
  /** Nothing changes; at most it is counted. */
  | { readonly kind: 'kept'; readonly counted: PublicationCount | null; readonly answer: PinAnswer };
