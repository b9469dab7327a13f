/** `POST /v1/heartbeat` (design 11). */

import { limits } from '@rollcall/core/limits';
import { type Static, Type } from 'typebox';
import {
  ciphertext,
  fingerprint,
  hostId,
  instance,
  name,
  publicKey,
  sentence,
  signature,
  time,
  word,
} from './text-kinds.ts';

/** Whole numbers that JSON carries exactly. */
export const count = (minimum = 0) => Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER });

export const position = Type.Object({ epoch: count(), step: count() });
/** Where a host or a wish stands in the assignments of one secret; ordered by (epoch, step). */
export type Position = Static<typeof position>;

export const heartbeatBody = Type.Object({
  instance: instance(),
  seq: count(),
  /** Compared with the verified host when sent; never used as identity (design 3). */
  host: Type.Optional(hostId()),
  /** Not judged by the schema: an unusable key is a fact about the host, not a malformed request (design 11). */
  wrapKey: Type.Optional(Type.Object({ suite: word(), public: sentence(limits.tokenTextMaxCharacters) })),
  held: Type.Record(name(), position),
  refused: Type.Array(Type.Object({ secret: name(), reason: word() }), { maxItems: 16 }),
  agent: Type.Object({ version: word() }),
  startup: Type.Union([Type.Literal('fresh'), Type.Literal('restored')]),
  sentAt: time(),
});
export type HeartbeatBody = Static<typeof heartbeatBody>;

export const hubKeyRecord = Type.Object({
  kid: fingerprint(),
  public: publicKey(),
  serial: count(1),
  rootSig: signature(),
});

/** Design 4. */
export const envelope = Type.Object({
  v: Type.Literal(1),
  host: hostId(),
  secret: name(),
  epoch: count(),
  step: count(),
  present: count(),
  recipient: fingerprint(),
  enc: publicKey(),
  ct: ciphertext(),
  hubKey: hubKeyRecord,
  sig: signature(),
});

export const pinState = Type.Union([
  Type.Literal('none'),
  Type.Literal('not_accepted'),
  Type.Literal('pinned'),
  Type.Literal('pending'),
  Type.Literal('unusable'),
]);
export type PinState = Static<typeof pinState>;

export const heartbeatAnswer = Type.Object({
  time: time(),
  nextBeatMs: count(1),
  pin: Type.Object({ state: pinState, fingerprint: Type.Optional(fingerprint()) }),
  deliveries: Type.Array(envelope),
  /** Signed statements; their shape is the signed JSON itself (design 4). */
  statements: Type.Array(Type.Unknown()),
});
export type HeartbeatAnswer = Static<typeof heartbeatAnswer>;
