/** `GET /v1/status` on the agent's own socket (design 8). */
import { limits } from '@rollcall/core/limits';
import { type Static, Type } from 'typebox';
import { heldToken, listenerStatus } from './agent-listener.ts';
import { count, pinState, position, sinkReport } from './heartbeat.ts';
import { nullable } from './hosts.ts';
import { fingerprint, hostId, name, sentence, time, word } from './text-kinds.ts';

/** How one of the files with a token for other programs stands. */
export const sinkStatus = Type.Object({
  name: name(),
  secret: name(),
  path: sentence(limits.sinkPathCharacters),
  version: sinkReport.properties.version,
  state: sinkReport.properties.state,
  problem: nullable(word()),
});
export type SinkStatus = Static<typeof sinkStatus>;

export const agentStatusAnswer = Type.Object({
  host: hostId(),
  life: nullable(count(1)),
  fingerprint: fingerprint(),
  held: Type.Record(name(), position),
  hubReachable: Type.Boolean(),
  problems: Type.Array(Type.Object({ code: word(), hint: sentence() })),
  presents: nullable(Type.Object({ secret: name(), version: nullable(count(1)) })),
  pin: nullable(pinState),
  lastAnswerAt: nullable(time()),
  /** Heartbeats of this start, counted before any retry, by what came back (`ok`, an error code, `unreachable`). */
  heartbeats: Type.Record(word(), count()),
  /** Shared tokens, by number. */
  tokens: Type.Optional(Type.Array(heldToken)),
  /** Of the network; not said by an agent that runs without one and was told of none. */
  listener: Type.Optional(listenerStatus),
  /** Files with a token for other programs on this host. */
  sinks: Type.Optional(Type.Array(sinkStatus)),
});
/** `POST /v1/reload` on the same socket: by key of the configuration file. */
export const agentReloadAnswer = Type.Object({
  changed: Type.Array(word()),
  /** Differ from what runs, and are taken at the next start only. */
  needRestart: Type.Array(word()),
});
export type AgentReloadAnswer = Static<typeof agentReloadAnswer>;

export type AgentStatusAnswer = Static<typeof agentStatusAnswer>;
