/** Records of one host's pin for tests. Fingerprints are one digit, sixty-four times. */

import type { Anchor, Fingerprint, HeldPins } from './pin.ts';

export const A: Fingerprint = 'a'.repeat(64);
export const B: Fingerprint = 'b'.repeat(64);
export const C: Fingerprint = 'c'.repeat(64);

/** An active host without a pin. */
export const unpinned: HeldPins = {
  status: 'active',
  banned: false,
  pin: { state: 'none' },
  approved: null,
  firstUse: null,
  pendings: [],
};

/** An active host with a pin. */
export function pinned(
  fingerprint: Fingerprint,
  anchor: Anchor = 'enrolment',
  previous: Fingerprint | null = null,
): HeldPins {
  return { ...unpinned, pin: { state: 'pinned', fingerprint, anchor, previous } };
}

export const unreadable: HeldPins = { ...unpinned, pin: { state: 'unreadable' } };
