/**
 * The signed statements that every heartbeat answer carries (design 3, TLS; design 4): signed, and written as text, once a minute,
 * and at once when other generations of the master verify, or in a new epoch: a host with a listener keeps it closed until it hears of
 * its own.
 */
import { encodeBase64url } from '@rollcall/core/bytes';
import type { JsonObject } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { type HubKey, signStatement } from '@rollcall/core/seal';
import type { Settings } from './hub.ts';
import type { HubClock } from './hub-clock.ts';
import type { LiveGenerations } from './live-generations.ts';

/** Returns a JSON array, as text. */
export type Statements = () => string;

export function createStatements(deps: {
  clock: HubClock;
  hubKey: HubKey;
  epoch: () => number;
  spki: Uint8Array;
  generations: Pick<LiveGenerations, 'versions'>;
  settings: Pick<Settings, 'verifyWindowMs'>;
}): Statements {
  const { clock, hubKey, spki, generations, settings } = deps;
  let text = '';
  let signedAt = Number.NEGATIVE_INFINITY;
  let signedOf: readonly number[] = [];
  let signedIn = 0;
  return () => {
    const now = clock.monotonic();
    const { versions } = generations;
    const epoch = deps.epoch();
    if (now - signedAt < limits.resealMs && versions === signedOf && epoch === signedIn) return text;
    const time = new Date(clock.now()).toISOString();
    const { verifyWindowMs } = settings;
    const sign = (kind: string, body: JsonObject) => signStatement({ kind, body, epoch, time, hubKey });
    text = JSON.stringify([
      sign('tls-spki', { current: encodeBase64url(spki) }),
      // Of what cannot be read nothing is confirmed.
      ...(versions.length === 0 ? [] : [sign('generation-in-force', { generations: versions, verifyWindowMs })]),
    ]);
    signedAt = now;
    signedOf = versions;
    signedIn = epoch;
    return text;
  };
}
