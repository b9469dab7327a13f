/** Hosts, as an operator sees them (design 3, 8). */

import { limits } from '@rollcall/core/limits';
import { type Static, Type } from 'typebox';
import { count, position } from './heartbeat.ts';
import { nullable } from './nullable.ts';
import { rungRow } from './rungs.ts';
import { fingerprint, hostId, name, networkAddress, sentence, shownOnce, time, word } from './text-kinds.ts';

export { nullable } from './nullable.ts';

export const hostStatus = Type.Union([
  Type.Literal('invited'),
  Type.Literal('active'),
  Type.Literal('suspended'),
  Type.Literal('evicted'),
  Type.Literal('removed'),
]);
export type HostStatus = Static<typeof hostStatus>;

export const anchor = Type.Union([Type.Literal('enrolment'), Type.Literal('first-use'), Type.Literal('operator')]);
export type Anchor = Static<typeof anchor>;

export const addHostBody = Type.Object({
  host: hostId(),
  reach: Type.Optional(Type.Union([Type.Literal('push'), Type.Literal('pull')])),
  address: Type.Optional(networkAddress()),
  /** A host of an older fleet: active from the start, no token (design 3). */
  existing: Type.Optional(Type.Boolean()),
  /** A host without an agent: active from the start, with a token of its own in the place of an enrolment token. */
  token: Type.Optional(Type.Boolean()),
  /** How long the enrolment token lives. */
  tokenLifeMs: Type.Optional(count(1)),
});
export type AddHostBody = Static<typeof addHostBody>;

/** An enrolment token and its end; or a token of the host, which has none; or neither, for a host of an older fleet. */
export const addHostAnswer = Type.Object({
  host: hostId(),
  life: count(1),
  token: Type.Optional(shownOnce()),
  expiresAt: Type.Optional(time()),
});
export type AddHostAnswer = Static<typeof addHostAnswer>;

export const hostTokenRow = Type.Object({
  /** Names it among those of its host; says nothing about its value. */
  id: word(),
  issuedAt: time(),
  seenAt: nullable(time()),
});
export type HostTokenRow = Static<typeof hostTokenRow>;

export const hostTokenAnswer = Type.Object({ host: hostId(), life: count(1), id: word(), token: shownOnce() });
export type HostTokenAnswer = Static<typeof hostTokenAnswer>;

export const hostRow = Type.Object({
  id: hostId(),
  status: hostStatus,
  reach: Type.Union([Type.Literal('push'), Type.Literal('pull')]),
  rung: nullable(word()),
  fresh: Type.Boolean(),
  lastSeenAt: nullable(time()),
  pin: nullable(Type.Object({ fingerprint: fingerprint(), anchor })),
  pending: Type.Boolean(),
  life: count(1),
  /** Highest version with which the host authenticated in its present life. */
  proven: Type.Record(name(), Type.Object({ epoch: count(), version: count(1) })),
  skewMs: nullable(Type.Integer()),
  flags: Type.Array(word()),
});
export type HostRow = Static<typeof hostRow>;

export const listHostsAnswer = Type.Object({ hosts: Type.Array(hostRow) });

export const assignmentRow = Type.Object({
  secret: name(),
  wanted: position,
  acked: nullable(position),
  accept: Type.Array(count(1)),
  present: count(1),
});

/** A shared token that the host was released from and has not been seen without: it may hold it still. */
export const releasedRow = Type.Object({ secret: name(), wanted: position, acked: nullable(position) });

/** Tables in which a row of this host was not written by this hub, or is damaged: `host reenrol` begins it anew. */
export const unreadableRows = Type.Array(word());

export const showHostAnswer = Type.Object({
  host: hostRow,
  address: nullable(networkAddress()),
  seenFrom: nullable(networkAddress()),
  agentVersion: nullable(word()),
  /** `null` where its row cannot be read. */
  addedAt: nullable(time()),
  assignments: Type.Array(assignmentRow),
  /** What it still has to drop. Absent in the answer of an older hub. */
  released: Type.Optional(Type.Array(releasedRow)),
  /** Those that let it in. */
  tokens: Type.Array(hostTokenRow),
  /** Which rungs are accepted of it, and why. */
  rungs: Type.Array(rungRow),
  refused: Type.Array(Type.Object({ secret: name(), reason: word() })),
  unreadable: unreadableRows,
});
export type ShowHostAnswer = Static<typeof showHostAnswer>;

export const reenrolBody = Type.Object({ tokenLifeMs: Type.Optional(count(1)) });

export const evictBody = Type.Object({ ban: Type.Optional(Type.Boolean()) });

/** Not judged by the schema, so that a bad row is reported as that row. */
const importedHost = Type.Object({
  host: sentence(200),
  reach: Type.Optional(sentence(20)),
  address: Type.Optional(sentence(300)),
  existing: Type.Optional(Type.Boolean()),
});

/** Hosts of a file, put on the roll together or not at all. */
export const importHostsBody = Type.Object({
  hosts: Type.Array(importedHost, { minItems: 1, maxItems: limits.importedHosts }),
  /** Judge every row, and change nothing. */
  dryRun: Type.Boolean(),
});
export type ImportHostsBody = Static<typeof importHostsBody>;

export const importHostsAnswer = Type.Object({
  /** In the order of the request. `code` and `hint` where a row is refused. */
  rows: Type.Array(
    Type.Object({
      host: sentence(200),
      outcome: Type.Union([Type.Literal('added'), Type.Literal('would_add'), Type.Literal('refused')]),
      code: Type.Optional(word()),
      hint: Type.Optional(sentence()),
    }),
  ),
  added: count(),
  refused: count(),
});
export type ImportHostsAnswer = Static<typeof importHostsAnswer>;

/** What a change of a host's state did. */
export const hostChangeAnswer = Type.Object({
  host: hostId(),
  status: hostStatus,
  life: count(1),
  /** Shared secrets that the host held: rotating them is what ends its knowledge of them. */
  heldSecrets: Type.Array(name()),
});
export type HostChangeAnswer = Static<typeof hostChangeAnswer>;
