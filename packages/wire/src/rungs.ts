/** Rungs: what a host presents, which of them are accepted and why, and who stands where (design 3). */
import { limits } from '@rollcall/core/limits';
import { type Static, Type } from 'typebox';
import { count } from './heartbeat.ts';
import { nullable } from './nullable.ts';
import { hostId, sentence, time } from './text-kinds.ts';

export const rung = Type.Union([Type.Literal('fleet-token'), Type.Literal('host-token'), Type.Literal('derived')]);

export const rungRow = Type.Object({
  rung,
  /** `null`: a decision is there that cannot be read, so nobody is let in. */
  accepted: nullable(Type.Boolean()),
  decidedFor: Type.Union([Type.Literal('host'), Type.Literal('fleet'), Type.Literal('nobody')]),
  /** Of the person who decided it. */
  reason: sentence(limits.rungReasonCharacters),
  since: nullable(time()),
});
export type RungRow = Static<typeof rungRow>;

export const listRungsAnswer = Type.Object({
  /** The lowest first; `hosts`: whose last beat was by it. */
  rungs: Type.Array(Type.Object({ ...rungRow.properties, hosts: count() })),
  neverHeard: count(),
  examined: count(),
  /** What was decided for single hosts. */
  exceptions: Type.Array(Type.Object({ host: hostId(), ...rungRow.properties })),
});
export type ListRungsAnswer = Static<typeof listRungsAnswer>;

const reason = sentence(limits.rungReasonCharacters);

export const decideRungBody = Type.Object({
  isAccepted: Type.Boolean(),
  reason,
  /** Of this host alone. */
  host: Type.Optional(hostId()),
  /** Hosts that would be refused everything, and are gone on without. */
  leave: Type.Optional(Type.Array(hostId())),
});
export type DecideRungBody = Static<typeof decideRungBody>;

export const clearRungBody = Type.Object({ host: hostId(), reason });
