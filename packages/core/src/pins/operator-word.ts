/** What an operator's word does to a pin: `pin approve`, `pin confirm`, `pin reject` (design 3). */

import { RollcallError } from '../errors.ts';
import { type Anchor, type Fingerprint, type HeldPins, livePendings, type NewPin, parseFingerprint } from './pin.ts';

export type ApprovalDecision =
  /** The hub knows the key's bytes: it is the pin from now on. */
  | { readonly kind: 'taken'; readonly pin: NewPin }
  /** Recorded as `approved`; it becomes the pin when it is published. */
  | { readonly kind: 'recorded'; readonly approved: Fingerprint };

/**
 * `pin approve HOST --fingerprint FULL`. `seen` are the fingerprints of the keys that this host has published and
 * whose bytes the hub still has. One that was not seen is recorded, so that junk cannot hide the true key; but
 * one that is nearly a key that was seen is a typing error.
 */
export function decideApproval(held: HeldPins, fingerprint: string, seen: readonly Fingerprint[]): ApprovalDecision {
  const approved = parseFingerprint(fingerprint);
  assertReadable(held);
  if (held.status === 'invited' || held.status === 'evicted') {
    throw new RollcallError('host_not_enrolled', { status: held.status });
  }
  if (held.pin.state === 'pinned' && held.pin.fingerprint === approved) throw new RollcallError('pin_unchanged');
  if (seen.includes(approved)) {
    const raisesLife = held.pin.state === 'pinned';
    return { kind: 'taken', pin: { fingerprint: approved, anchor: 'operator', previous: null, raisesLife } };
  }
  if (seen.some((other) => isNearly(other, approved))) throw new RollcallError('fingerprint_mistyped');
  return { kind: 'recorded', approved };
}

export type ConfirmationDecision =
  | { readonly kind: 'confirmed'; readonly anchor: 'operator' }
  /** Nothing to do: the pin was trusted on more than first use already. */
  | { readonly kind: 'already_confirmed'; readonly anchor: Anchor };

/** `pin confirm HOST --fingerprint FULL`: a first-use pin that a person read on the host is as good as an operator's. */
export function decideConfirmation(held: HeldPins, fingerprint: string): ConfirmationDecision {
  const confirmed = parseFingerprint(fingerprint);
  assertReadable(held);
  if (held.pin.state !== 'pinned') throw new RollcallError('pin_absent');
  if (held.pin.fingerprint !== confirmed) throw new RollcallError('fingerprint_mismatch');
  if (held.pin.anchor !== 'first-use') return { kind: 'already_confirmed', anchor: held.pin.anchor };
  return { kind: 'confirmed', anchor: 'operator' };
}

export interface RejectionDecision {
  /** Pending changes to drop. The same key, published again, is pending again. */
  readonly rejected: readonly Fingerprint[];
  /** Whether a recorded approval is withdrawn too. */
  readonly withdrawsApproval: boolean;
}

/** `pin reject HOST [--fingerprint FULL]`: one, or with `null` everything that waits. */
export function decideRejection(held: HeldPins, fingerprint: string | null): RejectionDecision {
  const only = fingerprint === null ? null : parseFingerprint(fingerprint);
  assertReadable(held);
  const waiting = livePendings(held).map((pending) => pending.fingerprint);
  const rejected = waiting.filter((pending) => only === null || pending === only);
  const withdrawsApproval = held.approved !== null && (only === null || held.approved === only);
  if (rejected.length === 0 && !withdrawsApproval) throw new RollcallError('pin_not_pending');
  return { rejected, withdrawsApproval };
}

function assertReadable(held: HeldPins): void {
  if (held.pin.state === 'unreadable') throw new RollcallError('unavailable', { because: 'pin_unreadable' });
}

/** Half of the digits agree: by chance about 2^-68, and as far out of a thief's reach, so no true key is ever hidden. */
function isNearly(a: Fingerprint, b: Fingerprint): boolean {
  let same = 0;
  for (let index = 0; index < a.length; index += 1) if (a[index] === b[index]) same += 1;
  return same * 2 >= a.length;
}
