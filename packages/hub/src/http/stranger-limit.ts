/**
 * How often strangers may ask: for routes that prove themselves or are public (design 3). Per network and in all; and where
 * the request names a host, for that host first, so that one misbehaving host behind a proxy uses up its own share and not that
 * of everyone who comes from there.
 */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { networkOf } from '@rollcall/wire';
import { createRateLimit, type Rate } from './rate-limit.ts';

export interface StrangerRates {
  readonly inAll: Rate;
  readonly perNetwork: Rate;
  /** Of one claimed host, from one network. */
  readonly perHost?: Rate;
}

/** Throws `too_many_requests`. `nowMs`: monotonic. */
export type StrangerLimit = (from: string, claimedHost: string, nowMs: number) => void;

export const enrolRates: StrangerRates = {
  inAll: { perSecond: limits.enrolsPerSecond, burst: limits.enrolsBurst },
  perNetwork: { perSecond: limits.enrolsPerNetworkPerSecond, burst: limits.enrolsPerNetworkBurst },
  perHost: { perSecond: limits.enrolsPerHostPerSecond, burst: limits.enrolsPerHostBurst },
};

export const publicRates: StrangerRates = {
  inAll: { perSecond: limits.publicPerSecond, burst: limits.publicBurst },
  perNetwork: { perSecond: limits.publicPerNetworkPerSecond, burst: limits.publicPerNetworkBurst },
};

export function createStrangerLimit({ inAll, perNetwork, perHost }: StrangerRates): StrangerLimit {
  const hosts = perHost === undefined ? undefined : createRateLimit(perHost, limits.rateLimitedKeys);
  const networks = createRateLimit(perNetwork, limits.rateLimitedKeys);
  const all = createRateLimit(inAll, 1);
  return (from, claimedHost, nowMs) => {
    const network = networkOf(from);
    // In this order, so that whoever is over the narrower limit takes nothing from the wider one.
    const waitMs =
      hosts?.take(`${network} ${claimedHost}`, nowMs) || networks.take(network, nowMs) || all.take('', nowMs);
    if (waitMs > 0) throw tooMany(waitMs);
  };
}

export function tooMany(waitMs: number): RollcallError<'too_many_requests'> {
  return new RollcallError('too_many_requests', { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}
