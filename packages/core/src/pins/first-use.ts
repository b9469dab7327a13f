/** First use as a measured act: who is exposed, and what turning it on would accept (design 3). */

import { RollcallError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Fingerprint, HeldPin, HostStatus } from './pin.ts';

/** One row of the registry, as far as first use is concerned. Give every row of the roll. */
export interface FirstUseHost {
  readonly id: string;
  readonly status: HostStatus;
  readonly pin: HeldPin['state'];
  /** Whether the host was ever heard at `host-token` or better. */
  readonly everSeen: boolean;
  readonly fresh: boolean;
  /** The key in its last authenticated heartbeat; `null` when there was none in it. */
  readonly publishing: Fingerprint | null;
  /** Every usable key that was seen from it, `publishing` included. */
  readonly keys: readonly ObservedKey[];
  /** One of them cannot be read, so that nobody knows how old any of them is; `keys` is empty then. */
  readonly areKeysUnreadable?: boolean;
  /** When it last sent an authenticated heartbeat without a usable key; `null`: not that anybody knows. */
  readonly withoutKeyAtMs: number | null;
  /** Where its last authenticated heartbeat came from. */
  readonly address: string | null;
}

export interface ObservedKey {
  readonly fingerprint: Fingerprint;
  readonly firstSeenAtMs: number;
}

export interface ExposurePolicy {
  /** A key younger than this is exposed. Default `limits.firstUseMinAgeMs`. */
  readonly minAgeMs: number;
}

/** Why a thief of the bearers would need no race, or could have won it. */
export type ExposedWhy =
  | 'invited'
  | 'suspended'
  | 'pin_unreadable'
  | 'keys_unreadable'
  | 'never_seen'
  | 'stale'
  | 'agent_too_old'
  | 'two_keys'
  | 'too_new';

export interface ExposedHost {
  readonly id: string;
  readonly why: ExposedWhy;
  readonly fingerprint: Fingerprint | null;
  readonly address: string | null;
  readonly firstSeenAtMs: number | null;
}

export interface EligibleHost {
  readonly id: string;
  readonly fingerprint: Fingerprint;
}

export interface Exposure {
  readonly exposed: readonly ExposedHost[];
  readonly eligible: readonly EligibleHost[];
  readonly examined: number;
}

/** One pass over the whole roll. A pinned host needs no first use and an evicted one has none: they are neither. */
export function measureExposure(hosts: Iterable<FirstUseHost>, policy: ExposurePolicy, nowMs: number): Exposure {
  const exposed: ExposedHost[] = [];
  const eligible: EligibleHost[] = [];
  let examined = 0;
  for (const host of hosts) {
    examined += 1;
    if (host.pin === 'pinned' || host.status === 'evicted') continue;
    const key = host.keys.find((seen) => seen.fingerprint === host.publishing);
    const judged = judgeHost(host, key, policy, nowMs);
    if (typeof judged === 'object') {
      eligible.push(judged);
      continue;
    }
    exposed.push({
      id: host.id,
      why: judged,
      fingerprint: key?.fingerprint ?? null,
      address: host.address,
      firstSeenAtMs: key?.firstSeenAtMs ?? null,
    });
  }
  return { exposed, eligible, examined };
}

export interface FirstUseRequest {
  /** `--exposed N`: how many exposed hosts the operator says there are. */
  readonly exposedAcknowledged: number;
  readonly untilMs: number;
}

export interface FirstUseGrant {
  readonly untilMs: number;
  /** The fixed population: the one fingerprint that is accepted for each. It never grows. */
  readonly accepted: readonly EligibleHost[];
}

/** `pin accept-first-use on`: refused unless the operator's number covers the exposed hosts. */
export function decideFirstUse(exposure: Exposure, request: FirstUseRequest, nowMs: number): FirstUseGrant {
  const { exposedAcknowledged, untilMs } = request;
  if (!(untilMs > nowMs && untilMs <= nowMs + limits.firstUseMaxMs)) {
    throw new RollcallError('window_out_of_bounds', { maxMs: limits.firstUseMaxMs });
  }
  if (!(exposedAcknowledged >= exposure.exposed.length)) {
    throw new RollcallError('exposure_not_acknowledged', {
      exposed: exposure.exposed.length,
      hosts: exposure.exposed.map((host) => host.id),
    });
  }
  if (exposure.eligible.length === 0) throw new RollcallError('nothing_eligible', { examined: exposure.examined });
  return { untilMs, accepted: exposure.eligible };
}

/** The host as it is accepted, or why it is exposed. */
function judgeHost(
  host: FirstUseHost,
  key: ObservedKey | undefined,
  policy: ExposurePolicy,
  nowMs: number,
): EligibleHost | ExposedWhy {
  if (host.status === 'invited' || host.status === 'suspended') return host.status;
  if (host.pin === 'unreadable') return 'pin_unreadable';
  if (!host.everSeen) return 'never_seen';
  if (!host.fresh) return 'stale';
  if (host.areKeysUnreadable === true) return 'keys_unreadable';
  if (host.keys.length > 1) return 'two_keys';
  if (key === undefined) return 'agent_too_old';
  // An agent that is too old to publish a key, and somebody else who publishes one in its name.
  const withoutKeyAtMs = host.withoutKeyAtMs ?? Number.NEGATIVE_INFINITY;
  if (withoutKeyAtMs > key.firstSeenAtMs && !(nowMs - withoutKeyAtMs >= policy.minAgeMs)) return 'agent_too_old';
  // Written so that an unreadable time (NaN) is too new, not old enough (I7).
  if (!(nowMs - key.firstSeenAtMs >= policy.minAgeMs)) return 'too_new';
  return { id: host.id, fingerprint: key.fingerprint };
}
