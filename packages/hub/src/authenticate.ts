/**
 * Who sent this? Answered from the headers alone, before a body is read. A yes may come from memory; a no is asked of
 * the store first (I8): whether anything changed there, which is the same question whatever was wrong, and one for all
 * who are refused at that time. So every refusal says the same and costs the same (I13), and a flood of them costs little
 * (docs/decisions/009).
 */
import type { IncomingMessage } from 'node:http';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { isHostId } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Hub } from './hub.ts';
import type { PresentedToken } from './live-tokens.ts';
import { catchUp } from './refresh.ts';
import { createEntry, type RollEntry } from './roll.ts';

export interface AuthenticatedHost {
  readonly entry: RollEntry;
  readonly rung: 'derived';
  /** The shared tokens that came beside its bearer: that it was this host who sent them is proven. */
  readonly tokens: readonly PresentedToken[];
  /** The generation that the bearer was derived from. */
  readonly version: number;
  /** The life that the bearer is of: the one before an operator's re-pin only fetches envelopes, and does nothing else. */
  readonly life: number;
}

/** Membership only: the id that came with it is what somebody said. */
export interface AuthenticatedMember {
  readonly rung: 'fleet-token';
  readonly declaredHost: string | null;
  readonly token: PresentedToken;
}

type AuthHub = Pick<Hub, 'roll' | 'generations' | 'tokens' | 'clock' | 'counts'>;

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

/** Whether it brings no credential of a host at all, but a shared token: a bearer that is there is never fallen back from. */
export function isMember({ headers }: IncomingMessage): boolean {
  return headers.authorization === undefined && headers['x-node-token'] !== undefined;
}

/**
 * By a shared token alone, of a caller that sends no bearer. Two tokens are no stronger than one, so one is all that is taken.
 * Throws as `authenticateHost` does.
 */
export async function authenticateMember(hub: AuthHub, request: IncomingMessage): Promise<AuthenticatedMember> {
  const { authorization, host, tokens, isDoubled } = readHeaders(request.rawHeaders);
  const presented = isDoubled || authorization !== undefined || tokens.length !== 1 ? '' : (tokens[0] as string);
  const isDeclared = host === undefined || isHostId(host);
  let token = verifyToken(hub, presented);
  if (token === undefined) {
    await askSource(hub);
    token = verifyToken(hub, presented);
  }
  const isLetIn = token !== undefined && isDeclared;
  hub.counts.add('member_auth', isLetIn ? 'ok' : 'refused');
  if (token === undefined || !isLetIn) throw new RollcallError('unauthenticated');
  return { rung: 'fleet-token', declaredHost: host ?? null, token };
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
  await askSource(hub);
  const entry = entryOf(hub, claim.host);
  if (entry.status === 'unreadable') throw new RollcallError('unavailable', { because: 'host_unreadable' });
  return tryVerify(hub, entry, claim);
}

async function askSource(hub: AuthHub): Promise<void> {
  try {
    await catchUp(hub);
  } catch (cause) {
    throw new RollcallError('unavailable', { because: 'store_unreadable' }, { cause });
  }
}

interface Claim {
  readonly host: string;
  readonly bearer: string;
  readonly tokens: readonly string[];
}

const NO_TOKENS: readonly never[] = [];

/** An id that no host has, so that a request without one takes the same way to its refusal. */
const NOBODY: Claim = { host: 'x', bearer: '', tokens: NO_TOKENS };

/** One `Authorization`, one `X-Rollcall-Host`, and a shared token a line: any that fails refuses the request (design 11). */
function readClaim(rawHeaders: readonly string[]): Claim {
  const { authorization, host, tokens, isDoubled } = readHeaders(rawHeaders);
  if (isDoubled || !isHostId(host) || authorization?.startsWith('Bearer ') !== true) return NOBODY;
  return { host, bearer: authorization.slice('Bearer '.length), tokens };
}

interface CredentialHeaders {
  authorization: string | undefined;
  host: string | undefined;
  tokens: readonly string[];
  /** Something that may come once came twice, or more tokens than a host can hold. */
  isDoubled: boolean;
}

/** Read from the raw headers, since node drops a second one. */
function readHeaders(rawHeaders: readonly string[]): CredentialHeaders {
  const read: CredentialHeaders = { authorization: undefined, host: undefined, tokens: NO_TOKENS, isDoubled: false };
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const value = rawHeaders[at + 1] as string;
    switch ((rawHeaders[at] as string).toLowerCase()) {
      case 'authorization':
        read.isDoubled ||= read.authorization !== undefined;
        read.authorization = value;
        break;
      case 'x-rollcall-host':
        read.isDoubled ||= read.host !== undefined;
        read.host = value;
        break;
      case 'x-node-token':
        read.isDoubled ||= read.tokens.length >= limits.namedSecrets;
        read.tokens = [...read.tokens, value];
        break;
    }
  }
  return read;
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
  const who = tryVerifyBearer(hub, entry, claim);
  if (claim.tokens.length === 0) return who;
  const tokens = verifyTokens(hub, claim.tokens);
  return who === undefined || tokens === undefined ? undefined : { ...who, tokens };
}

/** Each of them, or none; and one version of a secret, since nobody is told to send two. */
function verifyTokens(hub: AuthHub, presented: readonly string[]): readonly PresentedToken[] | undefined {
  const found = presented.map((text) => verifyToken(hub, text));
  const tokens = found.filter((token) => token !== undefined);
  const isEach = tokens.length === presented.length;
  return isEach && new Set(tokens.map(({ secret }) => secret)).size === tokens.length ? tokens : undefined;
}

function verifyToken(hub: AuthHub, presented: string): PresentedToken | undefined {
  try {
    return hub.tokens.verify(presented);
  } catch (error) {
    if (isRollcallError(error, 'unauthenticated')) return undefined;
    throw error;
  }
}

function tryVerifyBearer(hub: AuthHub, entry: RollEntry, claim: Claim): AuthenticatedHost | undefined {
  const isLetIn = entry.status === 'active';
  // Who is not let in is verified too, against a life that it does not have: a right bearer then costs what a wrong one does.
  const life = entry.life + (isLetIn ? 0 : 1);
  const present = verifyLife(hub, claim, life);
  if (isLetIn && present !== undefined) return { entry, rung: 'derived', tokens: NO_TOKENS, version: present, life };
  // And once more, whether there is a former life or not.
  const former = verifyLife(hub, claim, isLetIn ? Math.max(life - 1, 1) : life);
  const isFormerGood = entry.formerLifeUntil !== null && life > 1 && hub.clock.now() < entry.formerLifeUntil;
  if (!isLetIn || !isFormerGood || former === undefined) return undefined;
  return { entry, rung: 'derived', tokens: NO_TOKENS, version: former, life: life - 1 };
}

function verifyLife(hub: AuthHub, claim: Claim, life: number): number | undefined {
  try {
    return hub.generations.verify(claim.host, life, claim.bearer).version;
  } catch (error) {
    if (isRollcallError(error, 'unauthenticated')) return undefined;
    throw error;
  }
}
