/**
 * Who sent this? Answered from the headers alone, before a body is read. A yes may come from memory; a no is asked of
 * the store first (I8): whether anything changed there, which is the same question whatever was wrong, and one for all
 * who are refused at that time. So every refusal says the same and costs the same (I13), and a flood of them costs little
 * (docs/decisions/009).
 */
import type { IncomingMessage } from 'node:http';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { isHostId } from '@rollcall/core/keys';
import type { Hub } from './hub.ts';
import { createEntry, type RollEntry } from './roll.ts';

export interface AuthenticatedHost {
  readonly entry: RollEntry;
  readonly rung: 'derived';
  /** The generation that the bearer was derived from. */
  readonly version: number;
  /** The life that the bearer is of: the one before an operator's re-pin only fetches envelopes, and does nothing else. */
  readonly life: number;
}

type AuthHub = Pick<Hub, 'roll' | 'generations' | 'clock' | 'counts'>;

/** At once where memory says yes. Throws `unauthenticated`, or `unavailable` when the hub cannot tell. */
export function authenticateHost(
  hub: AuthHub,
  request: IncomingMessage,
): AuthenticatedHost | Promise<AuthenticatedHost> {
  const claim = readClaim(request.rawHeaders);
  // A yes that is too old is asked of the store, as a no is.
  const who = hub.roll.mayYes() ? tryVerify(hub, entryOf(hub, claim.host), claim) : undefined;
  if (who === undefined) return authenticateAtSource(hub, claim);
  countGood(hub, who);
  return who;
}

async function authenticateAtSource(hub: AuthHub, claim: Claim): Promise<AuthenticatedHost> {
  const who = await verifyAtSource(hub, claim);
  if (who === undefined) {
    hub.counts.add('auth', 'refused');
    throw new RollcallError('unauthenticated');
  }
  countGood(hub, who);
  return who;
}

/** By the place of the generation too: whether the one that is about to go is still presented (design 8). */
function countGood(hub: AuthHub, { version }: AuthenticatedHost): void {
  hub.counts.add('auth', 'ok');
  hub.counts.add('master_hits', version === hub.generations.current?.version ? 'current' : 'retiring');
}

/** A source that cannot be read has not said no (I8, I10). */
async function verifyAtSource(hub: AuthHub, claim: Claim): Promise<AuthenticatedHost | undefined> {
  try {
    await Promise.all([hub.roll.catchUp(), hub.generations.catchUp()]);
  } catch (cause) {
    throw new RollcallError('unavailable', { because: 'store_unreadable' }, { cause });
  }
  const entry = entryOf(hub, claim.host);
  if (entry.status === 'unreadable') throw new RollcallError('unavailable', { because: 'host_unreadable' });
  return tryVerify(hub, entry, claim);
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
  let host: string | undefined;
  let authorization: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const value = rawHeaders[at + 1] as string;
    switch ((rawHeaders[at] as string).toLowerCase()) {
      case 'authorization':
        if (authorization !== undefined) return NOBODY;
        authorization = value;
        break;
      case 'x-rollcall-host':
        if (host !== undefined) return NOBODY;
        host = value;
        break;
      case 'x-node-token':
        return NOBODY;
    }
  }
  if (!isHostId(host) || authorization?.startsWith('Bearer ') !== true) return NOBODY;
  return { host, bearer: authorization.slice('Bearer '.length) };
}

/**
 * Who is on no roll is verified as one who is and is not let in: as many fields are looked at, of an object of the same shape. There
 * are several, since one alone would always be in the processor's cache, where the entry of a host that is seldom asked for is not.
 */
const nobodies: readonly RollEntry[] = Array.from({ length: 64 }, () =>
  Object.assign(createEntry(''), { status: 'evicted' as const }),
);

function entryOf(hub: AuthHub, host: string): RollEntry {
  const entry = hub.roll.get(host);
  return entry ?? (nobodies[(host.charCodeAt(host.length - 1) + host.length) % nobodies.length] as RollEntry);
}

function tryVerify(hub: AuthHub, entry: RollEntry, claim: Claim): AuthenticatedHost | undefined {
  const isLetIn = entry.status === 'active';
  // Who is not let in is verified too, against a life that it does not have: a right bearer then costs what a wrong one does.
  const life = entry.life + (isLetIn ? 0 : 1);
  const present = verifyLife(hub, claim, life);
  if (isLetIn && present !== undefined) return { entry, rung: 'derived', version: present, life };
  // And once more, whether there is a former life or not.
  const former = verifyLife(hub, claim, isLetIn ? Math.max(life - 1, 1) : life);
  const isFormerGood = entry.formerLifeUntil !== null && life > 1 && hub.clock.now() < entry.formerLifeUntil;
  if (!isLetIn || !isFormerGood || former === undefined) return undefined;
  return { entry, rung: 'derived', version: former, life: life - 1 };
}

function verifyLife(hub: AuthHub, claim: Claim, life: number): number | undefined {
  try {
    return hub.generations.verify(claim.host, life, claim.bearer).version;
  } catch (error) {
    if (isRollcallError(error, 'unauthenticated')) return undefined;
    throw error;
  }
}
