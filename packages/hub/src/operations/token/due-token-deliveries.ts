/** Deliveries of shared tokens that are due for a host: computed, not queued, as those of the master (design 4, Hub). */
import { decodeBase64url } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { type Assignment, type Envelope, parseWrapPublicKey, sealDelivery } from '@rollcall/core/seal';
import type { HeartbeatBody } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import type { RollEntry } from '../../roll.ts';
import type { AssignmentRecord } from '../../store/assignments.ts';
import type { TokenEntry } from '../../token-entries.ts';

const NONE: readonly Envelope[] = [];

type DeliveryHub = Pick<Hub, 'clock' | 'hubKey' | 'random' | 'tokens'>;

/** Sealed to the pin of exactly this host, or nothing (I3). A token that cannot be read now is due later; the others are not held up. */
export function dueTokenDeliveries(
  hub: DeliveryHub,
  entry: RollEntry,
  held: HeartbeatBody['held'],
): readonly Envelope[] {
  const tokens = entry.tokens;
  if (tokens.length === 0 || entry.status !== 'active' || entry.pinState !== 'pinned') return NONE;
  return tokens.flatMap((token) => {
    const { wanted } = token;
    if (wanted === undefined || isHeld(wanted, held[token.secret])) return [];
    return [sealOrReuse(hub, entry, token, wanted)];
  });
}

/** Whether it says so: what was proven is due again for a host whose disk was put back. */
function isHeld({ epoch, step }: AssignmentRecord, held: HeartbeatBody['held'][string] | undefined): boolean {
  if (held === undefined) return false;
  return held.epoch > epoch || (held.epoch === epoch && held.step >= step);
}

/** Sealed again at most once a minute. */
function sealOrReuse(hub: DeliveryHub, entry: RollEntry, token: TokenEntry, wanted: AssignmentRecord): Envelope {
  const now = hub.clock.monotonic();
  const ready = token.envelope;
  const isReady = ready !== null && ready.life === entry.life && ready.recipient === entry.pinFingerprint;
  if (isReady && now - ready.sealedAt < limits.resealMs) return ready.sealed;
  const sealed = seal(hub, entry, wanted);
  token.envelope = { life: entry.life, recipient: entry.pinFingerprint, sealedAt: now, sealed };
  return sealed;
}

function seal(hub: DeliveryHub, entry: RollEntry, wanted: AssignmentRecord): Envelope {
  const assignment: Assignment = {
    secret: wanted.secret,
    epoch: wanted.epoch,
    step: wanted.step,
    accept: wanted.accept.map((version) => ({ version, value: hub.tokens.read(wanted.secret, version) })),
    present: wanted.present,
    issuedAt: new Date(wanted.issuedAt).toISOString(),
  };
  const publicBytes = decodeBase64url(entry.pinPublicText);
  if (publicBytes === undefined) throw new RollcallError('unavailable', { because: 'pin_unreadable' });
  return sealDelivery({
    host: entry.id,
    assignment,
    recipient: parseWrapPublicKey({ suite: 'x25519', public: publicBytes }),
    hubKey: hub.hubKey,
    random: hub.random,
  });
}
