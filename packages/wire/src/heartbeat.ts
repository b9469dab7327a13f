/** `POST /v1/heartbeat` (design 11). */

import { limits } from '@rollcall/core/limits';
import { type Static, Type } from 'typebox';
import {
  ciphertext,
  fingerprint,
  hostId,
  instance,
  name,
  networkAddress,
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

/** What a verifier on the host has taken of a shared token: counts since `counter` was made, and who still sent the old one. */
export const tokenReport = Type.Object({
  secret: name(),
  /** 16 random bytes, another one after each stop that was not clean: the counts before it may be lost. */
  counter: instance(),
  hits: Type.Array(Type.Object({ version: count(1), count: count() }), { maxItems: limits.countedVersions }),
  samples: Type.Array(
    Type.Object({
      at: time(),
      address: networkAddress(),
      userAgent: sentence(limits.userAgentCharacters),
      route: sentence(limits.routeCharacters),
      /** As it was declared with the token. */
      host: Type.Union([hostId(), Type.Null()]),
      version: count(1),
    }),
    { maxItems: limits.hitSamplesPerBeat },
  ),
});
export type TokenReport = Static<typeof tokenReport>;

/** What the agent found on its own listener, for the step that it holds (design 5, Probes). */
export const probeReport = Type.Object({
  secret: name(),
  step: count(),
  takes: Type.Array(count(1), { maxItems: limits.countedVersions }),
  refuses: Type.Array(count(1), { maxItems: limits.countedVersions }),
  /** The control: a random value was refused. */
  randomRefused: Type.Boolean(),
  at: time(),
});
export type ProbeReport = Static<typeof probeReport>;

export const sinkReport = Type.Object({
  name: name(),
  secret: name(),
  version: Type.Union([count(1), Type.Null()]),
  /** The step of the secret that the host held when this was seen; an earlier one says nothing of what came since. */
  step: Type.Union([count(), Type.Null()]),
  /** Keyed, of the live file's trimmed bytes; `null` when it cannot be read. */
  digest: Type.Union([fingerprint(), Type.Null()]),
  state: Type.Union([
    Type.Literal('reloaded'),
    Type.Literal('unreloaded'),
    Type.Literal('unwritten'),
    Type.Literal('drifted'),
  ]),
  problem: Type.Optional(word()),
});
export type SinkReport = Static<typeof sinkReport>;

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
  /** The agent's TCP listener, where one is configured. Closed is not none: it may open before the next beat. */
  listener: Type.Optional(Type.Object({ address: networkAddress(), open: Type.Boolean() })),
  tokens: Type.Optional(Type.Array(tokenReport, { maxItems: limits.namedSecrets })),
  probes: Type.Optional(Type.Array(probeReport, { maxItems: limits.namedSecrets })),
  sinks: Type.Optional(Type.Array(sinkReport, { maxItems: limits.sinksPerHost })),
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
