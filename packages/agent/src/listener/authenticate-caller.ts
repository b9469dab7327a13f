/**
 * Who calls this host? From the headers alone, before a body is read. Every credential that is presented must be good: there is no
 * falling back to another one (design 11, Several credentials). A shared token proves membership; the id beside it is declared.
 */
import { RollcallError } from '@rollcall/core/errors';
import { isHostId } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Acceptance, AcceptedToken } from './acceptance.ts';

export interface Caller {
  readonly rung: 'command' | 'fleet-token';
  /** Verified: by the command bearer of this host, and no other. */
  readonly host: string | null;
  /** What a caller with a token alone says of itself. */
  readonly declaredHost: string | null;
  readonly tokens: readonly AcceptedToken[];
  /** A probe, by the hub or by this agent: it is answered as any caller is, and not counted. */
  readonly isProbe: boolean;
}

/** `isOwnProbe`: whether this is the nonce of the probe that runs now. Throws `unauthenticated`. */
export function authenticateCaller(
  rawHeaders: readonly string[],
  {
    host,
    acceptance,
    isOwnProbe,
  }: {
    readonly host: string;
    readonly acceptance: Acceptance;
    readonly isOwnProbe: (nonce: string) => boolean;
  },
): Caller {
  const claim = readClaim(rawHeaders);
  if (claim === undefined) throw new RollcallError('unauthenticated');
  const { authorization, claimedHost, presented, probe } = claim;
  const command = authorization === undefined ? undefined : acceptance.verifyCommand(bearerOf(authorization));
  const tokens = presented.map((text) => acceptance.verifyToken(text));
  if (command === undefined) {
    if (tokens.length === 0) throw new RollcallError('unauthenticated');
    const declaredHost = isHostId(claimedHost) ? claimedHost : null;
    return { rung: 'fleet-token', host: null, declaredHost, tokens, isProbe: probe !== undefined && isOwnProbe(probe) };
  }
  // A command names whom it is for: one that was meant for another host is none for this one.
  if (claimedHost !== host) throw new RollcallError('unauthenticated');
  const isProbe = probe !== undefined && (probe === HUB_PROBE || isOwnProbe(probe));
  return { rung: 'command', host, declaredHost: null, tokens, isProbe };
}

/** Beside a good command bearer. */
const HUB_PROBE = '1';

interface Claim {
  authorization?: string;
  claimedHost?: string;
  probe?: string;
  readonly presented: string[];
}

/** `undefined` where a header came twice that may come once. From the raw headers, since node drops or joins a second one. */
function readClaim(rawHeaders: readonly string[]): Claim | undefined {
  const claim: Claim = { presented: [] };
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const value = rawHeaders[at + 1] as string;
    switch ((rawHeaders[at] as string).toLowerCase()) {
      case 'authorization':
        if (claim.authorization !== undefined) return undefined;
        claim.authorization = value;
        break;
      case 'x-rollcall-host':
        if (claim.claimedHost !== undefined) return undefined;
        claim.claimedHost = value;
        break;
      case 'x-rollcall-probe':
        if (claim.probe !== undefined) return undefined;
        claim.probe = value;
        break;
      case 'x-node-token':
        if (claim.presented.length === limits.presentedTokens) return undefined;
        claim.presented.push(value);
        break;
    }
  }
  return claim;
}

/** Of another scheme nothing is left that could be right. */
function bearerOf(authorization: string): string {
  return authorization.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
}
