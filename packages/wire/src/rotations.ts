/** Rotations and readiness (design 5, 8). */
import { limits } from '@rollcall/core/limits';
import { type Static, Type } from 'typebox';
import { count } from './heartbeat.ts';
import { nullable } from './hosts.ts';
import { hostId, member, name, networkAddress, rotated, sentence, time, word } from './text-kinds.ts';

export const phase = Type.Union([
  Type.Literal('planned'),
  Type.Literal('widening'),
  Type.Literal('rolling'),
  Type.Literal('proving'),
  Type.Literal('narrowing'),
  Type.Literal('done'),
  Type.Literal('reverting'),
  Type.Literal('withdrawing'),
  Type.Literal('rolled_back'),
]);

export const reason = Type.Union([Type.Literal('planned'), Type.Literal('leak')]);

/** How far it goes by itself while its gates are open. */
export const auto = Type.Union([Type.Literal('off'), Type.Literal('to_narrowing'), Type.Literal('all')]);

export const rotationRow = Type.Object({
  id: word(),
  secret: rotated(),
  from: count(1),
  to: count(1),
  phase,
  reason,
  startedAt: time(),
  left: Type.Array(member()),
  pausedBecause: nullable(sentence()),
  /** Of a shared token. */
  terms: Type.Optional(Type.Object({ auto, batch: count(1), narrowBy: nullable(time()) })),
});
export type RotationRow = Static<typeof rotationRow>;

export const blocker = Type.Object({
  member: sentence(200),
  missing: word(),
  since: nullable(time()),
  hint: sentence(),
});
export type BlockerRow = Static<typeof blocker>;

export const rotationStatus = Type.Object({
  rotation: rotationRow,
  gate: Type.Object({ open: Type.Boolean(), blockers: Type.Array(blocker) }),
  progress: Type.Object({ widened: count(), rolled: count(), proven: count(), total: count() }),
  retiringHits: Type.Object({
    lastAt: nullable(time()),
    /** Requests, and not their senders, since the rotation began, as far as they were counted. */
    count: count(),
    sources: Type.Array(
      Type.Object({
        /** Verified where `proven` says so, else declared with a shared token; `null`: neither. */
        host: nullable(hostId()),
        proven: Type.Optional(Type.Boolean()),
        address: networkAddress(),
        at: time(),
        /** Of a shared token: who took it, and what was asked for. */
        verifier: Type.Optional(sentence(200)),
        userAgent: Type.Optional(sentence(limits.userAgentCharacters)),
        route: Type.Optional(sentence(limits.routeCharacters)),
      }),
    ),
  }),
  verifyUntil: nullable(time()),
});
export type RotationStatus = Static<typeof rotationStatus>;

export const startRotationAnswer = Type.Object({
  ...rotationStatus.properties,
  /** The id of the rotation of the master that still ran, and has ended with this start. */
  superseded: Type.Optional(word()),
});
export type StartRotationAnswer = Static<typeof startRotationAnswer>;

export const listRotationsAnswer = Type.Object({ rotations: Type.Array(rotationRow) });

export const startRotationBody = Type.Object({
  secret: rotated(),
  reason: Type.Optional(reason),
  leave: Type.Optional(Type.Array(member())),
  /** After a leak: when the old version stops verifying. */
  narrowBy: Type.Optional(time()),
  /** Of a shared token: how far it goes by itself, and how many callers switch at a time. */
  auto: Type.Optional(auto),
  batch: Type.Optional(count(1)),
});
export type StartRotationBody = Static<typeof startRotationBody>;

/** `from` is the phase that the operator saw, so that of two who advance at once one is told. */
export const advanceBody = Type.Object({ from: Type.Optional(phase) });

export const retireBody = Type.Object({ now: Type.Boolean(), leave: Type.Array(member()) });
export type RetireBody = Static<typeof retireBody>;

/** Why, for the record. */
export const rollbackBody = Type.Object({ reason: sentence(200) });

export const pauseBody = Type.Object({ reason: sentence(200) });

export const leaveBody = Type.Object({ leave: Type.Array(member(), { minItems: 1 }), reason: sentence(200) });
export type LeaveBody = Static<typeof leaveBody>;

export const cutBody = Type.Object({ until: time(), leave: Type.Array(member()) });
export type CutBody = Static<typeof cutBody>;

export const problemRow = Type.Object({ code: word(), hosts: Type.Array(hostId()), hint: sentence() });

/** Design 8, word for word. */
export const readinessAnswer = Type.Object({
  ready: Type.Boolean(),
  safeToRetire: Type.Record(name(), Type.Boolean()),
  retireNow: Type.Record(name(), Type.Boolean()),
  examined: count(),
  hostsNotProvenOnCurrent: count(),
  hostsUnattributed: count(),
  hostsWithoutUsablePin: count(),
  hostsUnusableKey: count(),
  hostsHoldingMaster: count(),
  pendingPins: count(),
  previousVerifiesUntil: nullable(time()),
  problems: Type.Array(problemRow),
});
export type ReadinessAnswer = Static<typeof readinessAnswer>;
