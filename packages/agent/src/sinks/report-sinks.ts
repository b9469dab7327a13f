/** What a beat and the agent's own status say of the sinks. */
import { encodeHex } from '@rollcall/core/bytes';
import { errorTable } from '@rollcall/core/errors';
import { type SecretBytes, sinkDigest } from '@rollcall/core/keys';
import type { AgentStatusAnswer, HeartbeatBody, SinkReport, SinkStatus } from '@rollcall/wire';
import type { SinkFact } from './attempt-sink.ts';

/** Keyed by the heartbeat key that this beat presents: whoever reads a beat learns nothing of the token (design 5, Digests). */
export function reportSinks(
  facts: readonly SinkFact[],
  heartbeatKey: SecretBytes<'host-key'>,
): Pick<HeartbeatBody, 'sinks'> {
  if (facts.length === 0) return {};
  return { sinks: facts.map((fact) => report(fact, heartbeatKey)) };
}

/** The status of an agent with its sinks, and what is wrong with them. */
export function withSinks(status: AgentStatusAnswer, facts: readonly SinkFact[]): AgentStatusAnswer {
  if (facts.length === 0) return status;
  const known = new Set(status.problems.map(({ code }) => code));
  const codes = new Set(facts.flatMap(({ problem }) => problem ?? []).filter((code) => !known.has(code)));
  return {
    ...status,
    problems: [...status.problems, ...[...codes].map((code) => ({ code, hint: errorTable[code].hint }))],
    sinks: statusOfSinks(facts),
  };
}

/** For a caller over the network, without digests: those are keyed for one beat, and for the hub alone. */
export function statedSinks(facts: readonly SinkFact[]): SinkReport[] {
  return facts.map(({ name, secret, version, step, state, problem }) => ({
    name,
    secret,
    version,
    step,
    digest: null,
    state,
    ...(problem === undefined ? {} : { problem }),
  }));
}

/** What may be shown: never a token, nor a digest of one. */
export function statusOfSinks(facts: readonly SinkFact[]): SinkStatus[] {
  return facts.map(({ name, secret, path, version, state, problem = null }) => ({
    name,
    secret,
    path,
    version,
    state,
    problem,
  }));
}

function report(
  { name, secret, version, step, state, problem, live }: SinkFact,
  key: SecretBytes<'host-key'>,
): SinkReport {
  const digest = live === null ? null : encodeHex(sinkDigest(key.reveal(), secret, live.reveal()));
  return { name, secret, version, step, digest, state, ...(problem === undefined ? {} : { problem }) };
}
