/** What an agent answers on its own listeners: over TCP where it has one, and always on its socket (design 4, Commands). */
import { limits } from '@rollcall/core/limits';
import { type Static, Type } from 'typebox';
import { count, position, probeReport, sinkReport } from './heartbeat.ts';
import { nullable } from './hosts.ts';
import { get, nothing, post } from './route.ts';
import { hostId, name, networkAddress, sentence, word } from './text-kinds.ts';

/** What a host holds of a shared token, by number. */
export const heldToken = Type.Object({
  secret: name(),
  accepts: Type.Array(count(1), { maxItems: limits.acceptedVersions }),
  presents: count(1),
});
export type HeldToken = Static<typeof heldToken>;

/** `reason`: an error code; `null` while it is open. */
export const listenerStatus = Type.Object({
  open: Type.Boolean(),
  /** Where it listens, or is to listen; `null` where none is configured. */
  address: nullable(networkAddress()),
  reason: nullable(word()),
});
export type ListenerStatus = Static<typeof listenerStatus>;

export const agentHostAnswer = Type.Object({
  host: hostId(),
  life: nullable(count(1)),
  held: Type.Record(name(), position),
  tokens: Type.Array(heldToken),
  listener: listenerStatus,
  problems: Type.Array(word()),
});
export type AgentHostAnswer = Static<typeof agentHostAnswer>;

export const agentSinksAnswer = Type.Object({ sinks: Type.Array(sinkReport) });

export const agentEchoAnswer = Type.Object({
  method: word(),
  path: sentence(limits.routeCharacters),
  rung: Type.Union([Type.Literal('command'), Type.Literal('fleet-token')]),
  /** Verified: the command bearer of exactly this host. */
  host: nullable(hostId()),
  /** As it was said beside a shared token, which proves membership only. */
  declaredHost: nullable(hostId()),
});
export type AgentEchoAnswer = Static<typeof agentEchoAnswer>;

export const agentProbeAnswer = Type.Object({
  address: networkAddress(),
  probes: Type.Array(Type.Object({ ...probeReport.properties, passed: Type.Boolean() })),
});
export type AgentProbeAnswer = Static<typeof agentProbeAnswer>;

export const agentRoutes = {
  host: get('agent', '/v1/host', 'caller', 'What this host is and holds', agentHostAnswer),
  sinks: get('agent', '/v1/sinks', 'caller', 'What it keeps for other programs', agentSinksAnswer),
  echo: get('agent', '/v1/echo', 'caller', 'Who the caller is', agentEchoAnswer),
  echoPost: post('agent', '/v1/echo', 'caller', 'Who the caller is', nothing, agentEchoAnswer),
  probe: post('agent', '/v1/probe', 'local', 'Probe its own listener at once', nothing, agentProbeAnswer),
} as const;
