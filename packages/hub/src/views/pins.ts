/** Pins and their pending changes, with what the hub itself saw (design 3, "Reinstall or thief?"). */
import { isFresh } from '@rollcall/core/liveness';
import type { PendingPin, ShowPinAnswer } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { readHost } from '../store/hosts.ts';
import { findPin, listPendings, type PendingRecord } from '../store/pins.ts';
import { toTime } from './hosts.ts';

export async function listPendingPins(hub: Hub, host?: string): Promise<PendingPin[]> {
  return (await listPendings(hub.db, hub.vault, host)).map((pending) => toPending(hub, pending));
}

export async function showPin(hub: Hub, id: string): Promise<ShowPinAnswer> {
  const host = await readHost(hub.db, hub.vault, id);
  const pin = await findPin(hub.db, hub.vault, id);
  const seenAt = hub.roll.get(id)?.pinSeenAt ?? null;
  return {
    host: id,
    pin:
      pin === undefined
        ? null
        : {
            fingerprint: pin.fingerprint,
            anchor: pin.anchor,
            since: toTime(pin.since),
            lastSeenAt: seenAt === null ? null : toTime(seenAt),
          },
    approved: host.approved_fingerprint,
    pending: await listPendingPins(hub, id),
  };
}

function toPending(hub: Hub, pending: PendingRecord): PendingPin {
  const entry = hub.roll.get(pending.host);
  const beats = entry?.pendingBeats.get(pending.fingerprint);
  const pinSeenAt = entry?.pinSeenAt ?? pending.pinned_last_seen_at;
  const isStillPublishing =
    entry?.pinSeenMonotonic != null && isFresh(entry.pinSeenMonotonic, entry.intervalMs, hub.clock.monotonic());
  return {
    host: pending.host,
    pinned: pending.pinned,
    new: pending.fingerprint,
    firstSeenAt: toTime(pending.first_seen_at),
    lastSeenAt: toTime(beats?.lastSeenAt ?? pending.first_seen_at),
    evidence: {
      pinnedKeyLastSeenAt: pinSeenAt === null ? null : toTime(pinSeenAt),
      pinnedKeyStillPublishing: isStillPublishing,
      instancesAlternate: entry?.cloneAlertedAt != null,
      addressThen: entry?.pinSeenFrom ?? pending.pinned_address,
      addressNow: beats?.address ?? pending.address,
      beatsWithNewKey: beats?.beats ?? 1,
      claims: { startup: pending.startup },
    },
  };
}
