/** Deliveries of shared tokens that are due for a host: computed, not queued, as those of the master (design 4, Hub). */
import { isRollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { type Assignment, type Envelope, isDrop } from '@rollcall/core/seal';
import type { HeartbeatBody } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import type { RollEntry } from '../../roll.ts';
import type { AssignmentRecord } from '../../store/assignments.ts';
import { readOrUnreadable } from '../../store/trust-row.ts';
import type { TokenEntry } from '../../token-entries.ts';
import { type Held, isHeld, sealToPin } from '../due-deliveries.ts';

const NONE: readonly Envelope[] = [];

type DeliveryHub = Pick<Hub, 'clock' | 'hubKey' | 'random' | 'tokens'>;

/** Sealed to the pin of exactly this host, or nothing (I3); also what was proven, for a host whose disk was put back. */
export function dueTokenDeliveries(
  hub: DeliveryHub,
  entry: RollEntry,
  held: HeartbeatBody['held'],
): readonly Envelope[] {
  if (entry.tokens.length === 0 || entry.status !== 'active' || entry.pinState !== 'pinned') return NONE;
  return entry.tokens.flatMap((token) => {
    const { wanted } = token;
    if (wanted === undefined || isHeld(wanted, held[token.secret]) || isGone(wanted, held[token.secret])) return [];
    return sealOrReuse(hub, entry, token, wanted) ?? [];
  });
}

/** It was seen without, and knows nothing of it: there is nothing to take away. A disk that was put back says what it holds. */
function isGone(wanted: AssignmentRecord, held: Held): boolean {
  return isDrop(wanted) && wanted.ackedStep === wanted.step && held === undefined;
}

/** Sealed again at most once a minute. `undefined`: its value is not to be read now, so it is due later; the others are not held up. */
function sealOrReuse(
  hub: DeliveryHub,
  entry: RollEntry,
  token: TokenEntry,
  wanted: AssignmentRecord,
): Envelope | undefined {
  const now = hub.clock.monotonic();
  const ready = token.envelope;
  const isReady = ready !== null && ready.life === entry.life && ready.recipient === entry.pinFingerprint;
  if (isReady && now - ready.sealedAt < limits.resealMs) return ready.sealed;
  try {
    const sealed = sealToPin(hub, entry, {
      secret: wanted.secret,
      epoch: wanted.epoch,
      step: wanted.step,
      accept: wanted.accept.map((version) => ({ version, value: hub.tokens.read(wanted.secret, version) })),
      present: wanted.present,
      ...refusedOf(hub, wanted),
      issuedAt: new Date(wanted.issuedAt).toISOString(),
    });
    token.envelope = { life: entry.life, recipient: entry.pinFingerprint, sealedAt: now, sealed };
    return sealed;
  } catch (error) {
    if (isRollcallError(error, 'store_unreadable')) return undefined;
    throw error;
  }
}

/** One that was destroyed meanwhile is not named: the walk that waits for its refusal is over, and nobody needs it. */
function refusedOf(hub: DeliveryHub, { secret, refuse }: AssignmentRecord): Pick<Assignment, 'refuse'> {
  const named = refuse.flatMap((version) => {
    const value = readOrUnreadable(() => hub.tokens.read(secret, version));
    return value === 'unreadable' ? [] : [{ version, value }];
  });
  return named.length === 0 ? {} : { refuse: named };
}
