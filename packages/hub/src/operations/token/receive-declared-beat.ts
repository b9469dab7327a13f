/**
 * A heartbeat with a shared token and nothing else: somebody of the fleet says that a host is alive. It is believed of a host that
 * has nothing better yet; of one that was ever known by a credential of its own it moves nothing (design 3, the table of acts).
 */
import { RollcallError } from '@rollcall/core/errors';
import { nextBeatMs } from '@rollcall/core/liveness';
import { isEnoughFor } from '@rollcall/core/rungs';
import { type HeartbeatBody, routes } from '@rollcall/wire';
import { type AuthenticatedMember, verdictOf } from '../../authenticate.ts';
import type { Hub } from '../../hub.ts';
import type { RollEntry } from '../../roll.ts';
import { noteTokens } from './note-tokens.ts';

export interface DeclaredBeat {
  readonly who: AuthenticatedMember;
  readonly body: HeartbeatBody;
  readonly from: string;
  readonly userAgent: string;
}

/** The answer, as JSON text: never a delivery, never a pin. */
export async function receiveDeclaredBeat(hub: Hub, { who, body, from, userAgent }: DeclaredBeat): Promise<string> {
  const { token, declaredHost } = who;
  // The body may have come long after its header.
  const isTaken = hub.tokens.accepts(token.secret).includes(token.version);
  if (!isTaken || verdictOf(hub, who, 'heartbeat') !== 'accepted') throw new RollcallError('unauthenticated');
  const { nowMs, monotonicMs } = hub.clock.read();
  noteTokens(hub, who, { address: from, userAgent, route: routes.heartbeat.path, atMs: nowMs });
  if (body.host !== undefined && body.host !== declaredHost) throw new RollcallError('host_mismatch');
  const entry = declaredHost === null ? undefined : hub.roll.get(declaredHost);
  if (entry !== undefined && mayDescribe(entry, who)) {
    entry.lastSeenAt = nowMs;
    entry.seenMonotonic = monotonicMs;
    entry.intervalMs = hub.settings.beatMs;
    entry.address = from;
    entry.agentVersion = body.agent.version;
    entry.rung = who.rung;
    entry.version = null;
    entry.dirty = true;
  } else if (entry !== undefined) {
    entry.lowerRungSeenAt = nowMs;
    hub.counts.add('instances', 'lower_rung');
  }
  const beatMs = nextBeatMs(hub.settings.beatMs, hub.random);
  const now = new Date(nowMs).toISOString();
  return `{"time":"${now}","nextBeatMs":${beatMs},"pin":{"state":"none"},"deliveries":[],"statements":${hub.statements()}}`;
}

function mayDescribe(entry: RollEntry, { rung }: AuthenticatedMember): boolean {
  return entry.status === 'active' && isEnoughFor(isUnproven(entry) ? 'describe-unproven-host' : 'describe-host', rung);
}

/** Never known by anything that proves which host it is. */
function isUnproven({ pinState, provenVersion, wasSeenByToken }: RollEntry): boolean {
  return pinState === 'none' && provenVersion === null && !wasSeenByToken;
}
