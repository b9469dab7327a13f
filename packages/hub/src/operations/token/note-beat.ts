/** What a beat says and proves of the shared tokens that its host holds (design 4, 5). */
import { decodeHex } from '@rollcall/core/bytes';
import { deriveHostKeys, sinkDigest } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { type HubTime, keepFairly } from '@rollcall/core/rotation';
import { isDrop } from '@rollcall/core/seal';
import { type HeartbeatBody, networkOf, type TokenReport } from '@rollcall/wire';
import type { AuthenticatedHost } from '../../authenticate.ts';
import type { Hub } from '../../hub.ts';
import { toMasterGeneration } from '../../live-generations.ts';
import { ackStep } from '../../store/assignments.ts';
import { appendAudit } from '../../store/audit.ts';
import { readHost } from '../../store/hosts.ts';
import type { TokenEntry } from '../../token-entries.ts';
import { type HostReport, noReport, type SinkHolding } from '../../token-reports.ts';
import type { Beat } from '../receive-heartbeat.ts';

/** An ack is a proof (I5): the host sent the version that it is to present beside its own bearer, and says it holds that step. */
export async function proveTokens(hub: Hub, beat: Beat, time: HubTime): Promise<void> {
  const { who, body } = beat;
  const { entry, tokens } = who;
  const proven: TokenEntry[] = [];
  for (const held of entry.tokens) {
    const presented = tokens.find(({ secret }) => secret === held.secret)?.version;
    if (held.wanted === undefined) continue;
    const { wanted } = held;
    // Of a step that takes the token away the proof is a beat that names it, and comes without.
    const isAsTold = presented === (isDrop(wanted) ? undefined : wanted.present);
    const isProven = wanted.ackedStep === wanted.step;
    const position = body.held[held.secret];
    const holdsWanted = position?.epoch === wanted.epoch && position.step === wanted.step;
    if (isAsTold) {
      if (holdsWanted && !isProven) proven.push(held);
      if (held.presentedOther !== null) held.presentedOther = { ...held.presentedOther, isLast: false };
    } else if (presented !== undefined && isProven) {
      held.presentedOther = { version: presented, monotonicMs: time.monotonicMs, isLast: true };
    }
  }
  // Each proof reads the entry anew, so what was seen is written before the first.
  for (const held of proven) await proveToken(hub, who, held);
}

/**
 * What the agent says of its verifiers and sinks, the whole of it each time: what it does not say any more is not so any more. A hint,
 * and marked so: it follows one instance, as all that describes a host.
 */
export async function noteReports(hub: Hub, { who, body }: Beat, { nowMs }: HubTime): Promise<void> {
  const { entry } = who;
  if (!saysMore(body)) {
    hub.tokenReports.write(entry.id, noReport);
    return;
  }
  const { tokens = [], probes = [], sinks = [], listener } = body;
  // Behind a closed listener nobody could be counted: that is no report.
  const isClosed = listener?.open === false;
  if (listener !== undefined) hub.tokenReports.noteListener(entry.id, nowMs);
  for (const { secret, counter, hits } of isClosed ? [] : tokens) {
    const version = hub.tokens.retiring(secret);
    if (version === null) continue;
    const count = hits.find((hit) => hit.version === version)?.count;
    // What a report does not name it says nothing of: a count that is not known is not zero (I10).
    if (count === undefined) continue;
    await hub.tokenReports.count({ secret, member: entry.id, version, counter, count }, nowMs, hub.settings);
  }
  hub.tokenReports.write(entry.id, {
    listener: listener === undefined ? null : isClosed ? 'closed' : 'open',
    sources: keepSources(hub.tokenReports.of(entry.id).sources, tokens, nowMs),
    probes: new Map(
      probes.map(({ secret, step, takes, refuses, randomRefused }) => [
        secret,
        { step, takes, refuses, randomRefused },
      ]),
    ),
    sinks: sinks.map((sink) => {
      // A file that holds the right version and was not reloaded is not in force.
      const isInForce = sink.state === 'reloaded' && sink.problem === undefined;
      return {
        secret: sink.secret,
        name: sink.name,
        problem: sink.problem ?? (isInForce ? null : sink.state),
        toldOf: isInForce ? sink.step : null,
        holds: isInForce ? versionIn(hub, who, sink.secret, sink.digest) : null,
      };
    }),
  });
}

/** Whether there is anything to report: most beats carry none of it. */
export function saysMore({ listener, tokens, probes, sinks }: HeartbeatBody): boolean {
  return (listener ?? tokens ?? probes ?? sinks) !== undefined;
}

/** An agent names each caller once. When that was is the hub's to say: a host's clock decides nothing (I7). */
function keepSources(
  before: HostReport['sources'],
  tokens: readonly TokenReport[],
  atMs: number,
): HostReport['sources'] {
  const named = tokens.flatMap(({ secret, samples }) =>
    // Field by field: whatever else it says, it proves nothing of another.
    samples.map(({ address, userAgent, route, host, version }) => {
      return { secret, version, address, userAgent, route, host, atMs };
    }),
  );
  if (named.length === 0) return before;
  const keyOf = ({ secret, version, address, userAgent, route }: HostReport['sources'][number]) =>
    [secret, version, address, userAgent, route].join('\n');
  const again = new Set(named.map(keyOf));
  const newestFirst = [...named, ...before.filter((source) => !again.has(keyOf(source)))];
  return keepFairly(newestFirst, limits.oldHitSources, ({ address }) => networkOf(address));
}

async function proveToken(
  hub: Hub,
  { entry, rung, life }: AuthenticatedHost,
  { secret, wanted }: TokenEntry,
): Promise<void> {
  if (wanted === undefined) return;
  await hub.db.transaction().execute(async (tx) => {
    const now = hub.clock.now();
    const host = await readHost(tx, hub.vault, entry.id);
    // Between the verification and this transaction the host may have begun a new life: then it proved nothing.
    if (host.life !== life || host.status !== 'active') return;
    if (!(await ackStep(tx, hub.vault, { host: host.id, secret, step: wanted.step, at: now }))) return;
    await appendAudit(tx, {
      at: now,
      actor: { id: host.id, kind: 'host', rung, verified: true },
      action: 'host.proved',
      target: host.id,
      outcome: 'done',
      details: { secret, ...(isDrop(wanted) ? { dropped: true } : { version: wanted.present }), step: wanted.step },
    });
  });
  await hub.roll.reload(entry.id);
  hub.nudgeRotation();
}

/** The live version whose keyed digest a sink reported: under the key of this very beat, so that no recorded one counts. */
function versionIn(hub: Hub, who: AuthenticatedHost, secret: string, digest: string | null): SinkHolding['holds'] {
  const reported = digest === null ? undefined : decodeHex(digest);
  if (reported === undefined || who.version === null) return null;
  const keys = deriveHostKeys(toMasterGeneration(hub.generations.read(who.version)), who.entry.id, who.life, [
    'heartbeat',
  ]);
  const key = keys['heartbeat'];
  if (key === undefined) return null;
  const found = hub.tokens
    .accepts(secret)
    .find((version) =>
      Buffer.from(sinkDigest(key, secret, hub.tokens.read(secret, version).reveal())).equals(reported),
    );
  return found ?? null;
}
