/** The signed statements that every heartbeat answer carries (design 3, TLS; design 4): signed, and written as text, once a minute. */
import { encodeBase64url } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import { type HubKey, signStatement } from '@rollcall/core/seal';
import type { HubClock } from './hub-clock.ts';

/** Returns a JSON array, as text. */
export type Statements = () => string;

export function createStatements(deps: {
  clock: HubClock;
  hubKey: HubKey;
  epoch: number;
  spki: Uint8Array;
}): Statements {
  const { clock, hubKey, epoch, spki } = deps;
  let text = '';
  let signedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now - signedAt < limits.resealMs) return text;
    const time = new Date(clock.now()).toISOString();
    text = JSON.stringify([
      signStatement({ kind: 'tls-spki', body: { current: encodeBase64url(spki) }, epoch, time, hubKey }),
    ]);
    signedAt = now;
    return text;
  };
}
