/**
 * Who sent this? Answered from the headers alone, before a body is read. A yes may come from memory; a no is asked of
 * the store first (I8), whatever was wrong, so that every refusal costs the same and says the same (I13).
 */
import type { IncomingMessage } from 'node:http';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { parseHostId } from '@rollcall/core/keys';
import type { Hub } from './hub.ts';
import type { RollEntry } from './roll.ts';

export interface AuthenticatedHost {
  readonly entry: RollEntry;
  readonly rung: 'derived';
  /** The generation that the bearer was derived from. */
  readonly version: number;
  /** `former`: a beat of the life before an operator's re-pin; it fetches envelopes, and does nothing else. */
  readonly life: 'present' | 'former';
}

type AuthHub = Pick<Hub, 'roll' | 'generations' | 'clock' | 'counts'>;

/** Throws `unauthenticated`, or `unavailable` when the hub cannot tell. */
export async function authenticateHost(hub: AuthHub, request: IncomingMessage): Promise<AuthenticatedHost> {
  const claim = readClaim(request.rawHeaders);
  const cached = tryVerify(hub, hub.roll.get(claim.host), claim);
  if (cached !== undefined) {
    hub.counts.add('auth', 'ok');
    return cached;
  }
  const [fresh] = await Promise.all([hub.roll.reload(claim.host), hub.generations.reload()]);
  const verified = tryVerify(hub, fresh, claim);
  if (verified !== undefined) {
    hub.counts.add('auth', 'ok');
    return verified;
  }
  hub.counts.add('auth', 'refused');
  throw new RollcallError('unauthenticated');
}

interface Claim {
  readonly host: string;
  readonly bearer: string;
}

/** An id that no host has, so that a request without one takes the same way to its refusal. */
const NOBODY: Claim = { host: 'x', bearer: '' };

/**
 * One `Authorization`, one `X-Rollcall-Host`, and no other credential: any that fails refuses the request, and none but
 * this rung is accepted yet (design 11, Several credentials). Read from the raw headers, since node drops a second one.
 */
function readClaim(rawHeaders: readonly string[]): Claim {
  const found = new Map<string, string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (name !== 'authorization' && name !== 'x-rollcall-host' && name !== 'x-node-token') continue;
    if (found.has(name)) return NOBODY;
    found.set(name, rawHeaders[at + 1] as string);
  }
  const authorization = found.get('authorization');
  const host = found.get('x-rollcall-host');
  if (found.has('x-node-token') || authorization === undefined || host === undefined) return NOBODY;
  if (!authorization.startsWith('Bearer ')) return NOBODY;
  try {
    return { host: parseHostId(host), bearer: authorization.slice('Bearer '.length) };
  } catch {
    return NOBODY;
  }
}

function tryVerify(hub: AuthHub, entry: RollEntry | undefined, claim: Claim): AuthenticatedHost | undefined {
  // An unknown host is verified against too: the work is the same, and the answer is no.
  const present = verifyLife(hub, claim, entry?.life ?? 1);
  const former =
    entry !== undefined && entry.formerLifeUntil !== null && hub.clock.now() < entry.formerLifeUntil && entry.life > 1
      ? verifyLife(hub, claim, entry.life - 1)
      : undefined;
  if (entry === undefined || entry.status !== 'active') {
    if (entry?.status === 'unreadable') throw new RollcallError('unavailable', { because: 'host_unreadable' });
    return undefined;
  }
  const version = present ?? former;
  if (version === undefined) return undefined;
  return { entry, rung: 'derived', version, life: present === undefined ? 'former' : 'present' };
}

function verifyLife(hub: AuthHub, claim: Claim, life: number): number | undefined {
  try {
    return hub.generations.verify(claim.host, life, claim.bearer).version;
  } catch (error) {
    if (isRollcallError(error, 'unauthenticated')) return undefined;
    throw error;
  }
}
