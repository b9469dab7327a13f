/** Pins and their pending changes, with what the hub itself saw (design 3, "Reinstall or thief?"). */
import { isFresh } from '@rollcall/core/liveness';
import type { ListPinsAnswer, PendingPin, ShowPinAnswer } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { listUnreadableRows } from '../operations/begin-anew.ts';
import { readHost } from '../store/hosts.ts';
import { findPendings, findPin, listPendings, type PendingRecord } from '../store/pins.ts';
import { orUnreadable } from '../store/trust-row.ts';
import { toTime, toTimeOrNull } from './hosts.ts';

export async function listPendingPins(hub: Hub): Promise<ListPinsAnswer> {
  const pendings = [...(await listPendings(hub.db, hub.vault))];
  return {
    pending: pendings.flatMap(([, of]) => (of === 'unreadable' ? [] : of.map((pending) => toPending(hub, pending)))),
    unreadable: pendings.flatMap(([host, of]) => (of === 'unreadable' ? [host] : [])),
  };
}

export async function showPin(hub: Hub, id: string): Promise<ShowPinAnswer> {
  const { db, vault } = hub;
  const host = await orUnreadable(readHost(db, vault, id));
  const pin = await orUnreadable(findPin(db, vault, id));
  const pendings = await orUnreadable(findPendings(db, vault, id));
  const seenAt = hub.roll.get(id)?.pinSeenAt ?? null;
  return {
    host: id,
    pin:
      typeof pin !== 'object'
        ? null
        : {
            fingerprint: pin.fingerprint,
            anchor: pin.anchor,
            since: toTime(pin.since),
            lastSeenAt: toTimeOrNull(seenAt),
          },
    approved: host === 'unreadable' ? null : host.approved_fingerprint,
    pending: pendings === 'unreadable' ? [] : pendings.map((pending) => toPending(hub, pending)),
    unreadable: await listUnreadableRows(hub, db, id),
  };
}

function toPending(hub: Hub, pending: PendingRecord): PendingPin {
  const entry = hub.roll.get(pending.host);
  const beats = entry?.pendingBeats.get(pending.fingerprint);
  const pinSeenAt = entry?.pinSeenAt ?? pending.pinned_last_seen_at;
  // A host that was installed anew sent its former key until a moment ago: two machines would go on beside each other.
  const isAfterNewKey = entry?.pinSeenAt != null && entry.pinSeenAt > pending.first_seen_at;
  const isStillPublishing = isAfterNewKey && isFresh(entry.pinSeenMonotonic, entry.intervalMs, hub.clock.monotonic());
  return {
    host: pending.host,
    pinned: pending.pinned,
    new: pending.fingerprint,
    firstSeenAt: toTime(pending.first_seen_at),
    lastSeenAt: toTime(beats?.lastSeenAt ?? pending.first_seen_at),
    evidence: {
      pinnedKeyLastSeenAt: toTimeOrNull(pinSeenAt),
      pinnedKeyStillPublishing: isStillPublishing,
      instancesAlternate: entry?.cloneAlertedAt != null,
      addressThen: entry?.pinSeenFrom ?? pending.pinned_address,
      addressNow: beats?.address ?? pending.address,
      beatsWithNewKey: beats?.beats ?? 1,
      claims: { startup: pending.startup },
    },
  };
}
