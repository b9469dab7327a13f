/** Pins, their pending changes and first use (design 3). */
import { type Static, Type } from 'typebox';
import { count } from './heartbeat.ts';
import { anchor, nullable, unreadableRows } from './hosts.ts';
import { fingerprint, hostId, networkAddress, time, word } from './text-kinds.ts';

/** What the hub itself saw; `claims` is what the agent says. */
export const pinEvidence = Type.Object({
  pinnedKeyLastSeenAt: nullable(time()),
  pinnedKeyStillPublishing: Type.Boolean(),
  instancesAlternate: Type.Boolean(),
  addressThen: nullable(networkAddress()),
  addressNow: nullable(networkAddress()),
  beatsWithNewKey: count(),
  claims: Type.Object({ startup: nullable(word()) }),
});
export type PinEvidence = Static<typeof pinEvidence>;

export const pendingPin = Type.Object({
  host: hostId(),
  pinned: fingerprint(),
  new: fingerprint(),
  firstSeenAt: time(),
  lastSeenAt: time(),
  evidence: pinEvidence,
});
export type PendingPin = Static<typeof pendingPin>;

export const listPinsAnswer = Type.Object({
  pending: Type.Array(pendingPin),
  /** Hosts of which a pending change is there that cannot be read: no word about any of theirs is taken. */
  unreadable: Type.Array(hostId()),
});
export type ListPinsAnswer = Static<typeof listPinsAnswer>;

export const showPinAnswer = Type.Object({
  host: hostId(),
  pin: nullable(Type.Object({ fingerprint: fingerprint(), anchor, since: time(), lastSeenAt: nullable(time()) })),
  /** Approved by an operator, in force as soon as the host publishes it. */
  approved: nullable(fingerprint()),
  pending: Type.Array(pendingPin),
  unreadable: unreadableRows,
});
export type ShowPinAnswer = Static<typeof showPinAnswer>;

export const fingerprintBody = Type.Object({ fingerprint: fingerprint() });

export const pinChangeAnswer = Type.Object({
  host: hostId(),
  /** `taken` at once, or `when_published`: the hub has not seen this key yet. */
  effect: word(),
  life: count(1),
  pin: nullable(Type.Object({ fingerprint: fingerprint(), anchor })),
});
export type PinChangeAnswer = Static<typeof pinChangeAnswer>;

export const exposureAnswer = Type.Object({
  /** How many hosts could be pinned by a thief without a race. */
  exposed: count(),
  hosts: Type.Array(
    Type.Object({
      id: hostId(),
      why: word(),
      fingerprint: nullable(fingerprint()),
      address: nullable(networkAddress()),
      firstSeenAt: nullable(time()),
    }),
  ),
  /** Unpinned hosts that do publish one key now: those that first use would take. */
  eligible: Type.Array(Type.Object({ id: hostId(), fingerprint: fingerprint() })),
  examined: count(),
  firstUse: Type.Object({ until: nullable(time()), hosts: count() }),
});
export type ExposureAnswer = Static<typeof exposureAnswer>;

export const acceptFirstUseBody = Type.Union([
  Type.Object({ on: Type.Literal(true), until: time(), exposed: count() }),
  Type.Object({ on: Type.Literal(false) }),
]);
export type AcceptFirstUseBody = Static<typeof acceptFirstUseBody>;

export const acceptFirstUseAnswer = Type.Object({
  until: nullable(time()),
  accepted: Type.Array(Type.Object({ id: hostId(), fingerprint: fingerprint() })),
  exposed: count(),
});
export type AcceptFirstUseAnswer = Static<typeof acceptFirstUseAnswer>;
