/**
 * Who sent this? Answered from the headers alone, before a body is read. A yes may come from memory; a no is asked of
 * the store first (I8): whether anything changed there, which is the same question whatever was wrong, and one for all
 * who are refused at that time. So every refusal says the same and costs the same (I13), and a flood of them costs little
 * (docs/decisions/009).
 */
import type { IncomingMessage } from 'node:http';
import { utf8 } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { isHostId } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { type Act, decideRung, noPolicy, type Rung, type RungVerdict } from '@rollcall/core/rungs';
import { readHeaders } from './credential-headers.ts';
import { type HostTokenEntry, keyOf } from './host-token-entries.ts';
import type { Hub } from './hub.ts';
import type { PresentedToken } from './live-tokens.ts';
import { catchUp } from './refresh.ts';
import { createEntry, type RollEntry } from './roll.ts';

export interface AuthenticatedHost {
  readonly entry: RollEntry;
  readonly rung: 'derived' | 'host-token';
  /** The shared tokens that came beside its bearer: that it was this host who sent them is proven. */
  readonly tokens: readonly PresentedToken[];
  /** The generation that the bearer was derived from; `null` of a token of this host. */
  readonly version: number | null;
  /** The token of this host that it presented; `null` of a bearer. */
  readonly hostToken: HostTokenEntry | null;
  /** The life that the bearer is of: the one before an operator's re-pin only fetches envelopes, and does nothing else. */
  readonly life: number;
}

/** Membership only: the id that came with it is what somebody said. */
export interface AuthenticatedMember {
  readonly rung: 'fleet-token';
  readonly declaredHost: string | null;
  readonly token: PresentedToken;
}

type AuthHub = Pick<Hub, 'roll' | 'generations' | 'tokens' | 'clock' | 'counts' | 'vault'>;

/**
 * At once where memory says yes. `act`: what it asks for; its rung must be accepted, and enough for that. Throws `unauthenticated`;
 * `host_mismatch` when who was verified says another id; `unavailable` when the hub cannot tell.
 */
export function authenticateHost(
  hub: AuthHub,
  request: IncomingMessage,
  act: Act,
): AuthenticatedHost | Promise<AuthenticatedHost> {
  const claim = readClaim(request.rawHeaders);
  // A yes that is too old is asked of the store, as a no is.
  const who = mayYes(hub, claim) ? tryVerify(hub, entryOf(hub, claim), claim, act) : undefined;
  if (who === undefined) return authenticateAtSource(hub, claim, act);
  return countGood(hub, who, claim);
}

/**
 * For 30 s after all that it rests on was as new as the store (I8): a store that is slow must not make a yes last, either. What it does
 * not rest on concerns it not: shared tokens that cannot be read keep out nobody who sends none.
 */
function mayYes(
  { roll, generations, tokens, clock }: AuthHub,
  brings: { readonly rung: Rung; readonly tokens: readonly string[] },
): boolean {
  const ofRung = brings.rung === 'derived' ? generations.asNewAtMs : roll.asNewAtMs;
  const ofTokens = brings.tokens.length > 0 ? tokens.asNewAtMs : roll.asNewAtMs;
  return clock.monotonic() - Math.min(roll.asNewAtMs, ofRung, ofTokens) < limits.cachedYesMs;
}

/** Whether it brings no credential of a host at all, but a shared token: a bearer that is there is never fallen back from. */
export function isMember({ headers }: IncomingMessage): boolean {
  return headers.authorization === undefined && headers['x-node-token'] !== undefined;
}

/**
 * By a shared token alone, of a caller that sends no bearer. `probe`: the hub asks itself, and no rung is stood on. Two tokens are no stronger than one, so one is all that is taken.
 * Throws as `authenticateHost` does.
 */
export async function authenticateMember(
  hub: AuthHub,
  request: IncomingMessage,
  act: Act | 'probe',
): Promise<AuthenticatedMember> {
  const { authorization, host, tokens, isDoubled } = readHeaders(request.rawHeaders);
  const presented = isDoubled || authorization !== undefined || tokens.length !== 1 ? '' : (tokens[0] as string);
  const isDeclared = host === undefined || isHostId(host);
  const member = (token: PresentedToken): AuthenticatedMember => ({
    rung: 'fleet-token',
    declaredHost: host ?? null,
    token,
  });
  let token = mayYes(hub, { rung: 'fleet-token', tokens }) ? verifyToken(hub, presented) : undefined;
  if (token === undefined || !isDeclared || verdictOf(hub, member(token), act) !== 'accepted') {
    await askSource(hub);
    token = verifyToken(hub, presented);
  }
  const verdict = token === undefined || !isDeclared ? 'refused' : verdictOf(hub, member(token), act);
  hub.counts.add('member_auth', verdict === 'accepted' ? 'ok' : 'refused');
  if (verdict === 'unreadable') throw new RollcallError('unavailable', { because: 'rungs_unreadable' });
  if (token === undefined || verdict !== 'accepted') throw new RollcallError('unauthenticated');
  return member(token);
}

/** Asked again once a body is there: it may have come long after its header, and the rung been closed meanwhile. */
export function verdictOf(
  { roll }: Pick<Hub, 'roll'>,
  who: AuthenticatedHost | AuthenticatedMember,
  act: Act | 'probe',
): RungVerdict {
  if (act === 'probe') return 'accepted';
  if (who.rung !== 'fleet-token') return decideRung(act, who.rung, roll.fleetRungs, who.entry.rungs);
  const declared = who.declaredHost === null ? undefined : roll.get(who.declaredHost);
  return decideRung(act, who.rung, roll.fleetRungs, declared?.rungs ?? noPolicy);
}

async function authenticateAtSource(hub: AuthHub, claim: Claim, act: Act): Promise<AuthenticatedHost> {
  const who = await verifyAtSource(hub, claim, act);
  if (who === undefined) {
    hub.counts.add(countOf(claim.rung), 'refused');
    throw new RollcallError('unauthenticated');
  }
  return countGood(hub, who, claim);
}

function countOf(rung: Claim['rung']): 'auth' | 'host_token_auth' {
  return rung === 'derived' ? 'auth' : 'host_token_auth';
}

/** By the place of the generation too: whether the one that is about to go is still presented (design 8). */
function countGood(hub: AuthHub, who: AuthenticatedHost, { host, rung }: Claim): AuthenticatedHost {
  hub.counts.add(countOf(rung), 'ok');
  if (who.version !== null) {
    hub.counts.add('master_hits', who.version === hub.generations.current?.version ? 'current' : 'retiring');
  }
  // A token of a host needs no id beside it; one that is there is compared (design 3).
  if (host !== who.entry.id && host !== '') throw new RollcallError('host_mismatch');
  return who;
}

/** A source that cannot be read has not said no (I8, I10). */
async function verifyAtSource(hub: AuthHub, claim: Claim, act: Act): Promise<AuthenticatedHost | undefined> {
  await askSource(hub);
  const entry = entryOf(hub, claim);
  if (entry.status === 'unreadable') throw new RollcallError('unavailable', { because: 'host_unreadable' });
  if (claim.rung === 'host-token' && !entry.areHostTokensReadable) {
    throw new RollcallError('unavailable', { because: 'host_tokens_unreadable' });
  }
  if (decideRung(act, claim.rung, hub.roll.fleetRungs, entry.rungs) === 'unreadable') {
    throw new RollcallError('unavailable', { because: 'rungs_unreadable' });
  }
  return tryVerify(hub, entry, claim, act);
}

async function askSource(hub: AuthHub): Promise<void> {
  try {
    await catchUp(hub);
  } catch (cause) {
    throw new RollcallError('unavailable', { because: 'store_unreadable' }, { cause });
  }
}

interface Claim {
  /** Empty: none was named, as none need be beside a token of a host. */
  readonly host: string;
  readonly rung: Exclude<Rung, 'fleet-token'>;
  readonly bearer: string;
  readonly tokens: readonly string[];
}

const NO_TOKENS: readonly never[] = [];

/** An id that no host has, so that a request without one takes the same way to its refusal. */
const NOBODY: Claim = { host: 'x', rung: 'derived', bearer: '', tokens: NO_TOKENS };

const SCHEME = 'Bearer ';
const HOST_TOKEN = `${SCHEME}rch_`;

/** One `Authorization`, one `X-Rollcall-Host`, and a shared token a line: any that fails refuses the request (design 11). */
function readClaim(rawHeaders: readonly string[]): Claim {
  const { authorization, host, tokens, isDoubled } = readHeaders(rawHeaders);
  if (isDoubled || authorization?.startsWith(SCHEME) !== true) return NOBODY;
  const bearer = authorization.slice(SCHEME.length);
  if (isHostId(host)) {
    return { host, rung: authorization.startsWith(HOST_TOKEN) ? 'host-token' : 'derived', bearer, tokens };
  }
  if (host !== undefined || !authorization.startsWith(HOST_TOKEN)) return NOBODY;
  return { host: '', rung: 'host-token', bearer, tokens };
}

/**
 * Who is on no roll is verified as one who is and is not let in: as many fields are looked at, of an object of the same shape. There
 * are several, since one alone would always be in the processor's cache, where the entry of a host that is seldom asked for is not.
 */
const nobodies: readonly RollEntry[] = Array.from({ length: 64 }, () =>
  Object.assign(createEntry(''), { status: 'evicted' as const }),
);

function entryOf(hub: AuthHub, { host, rung, bearer }: Claim): RollEntry {
  const entry = rung === 'derived' ? hub.roll.get(host) : hub.roll.findByHostToken(digestOf(hub, bearer));
  if (entry !== undefined) return entry;
  const named = rung === 'derived' ? host : bearer;
  return nobodies[(named.charCodeAt(named.length - 1) + named.length) % nobodies.length] as RollEntry;
}

function tryVerify(hub: AuthHub, entry: RollEntry, claim: Claim, act: Act): AuthenticatedHost | undefined {
  // A rung that is closed lets nobody in, as a host that is not: it is verified all the same. And both are asked of every host.
  const verdict = decideRung(act, claim.rung, hub.roll.fleetRungs, entry.rungs);
  const isLetIn = entry.status === 'active' && verdict === 'accepted';
  const who =
    claim.rung === 'derived'
      ? tryVerifyBearer(hub, { entry, claim, isLetIn })
      : tryVerifyHostToken(hub, { entry, claim, isLetIn });
  if (claim.tokens.length === 0) return who;
  const tokens = verifyTokens(hub, claim.tokens);
  return who === undefined || tokens === undefined ? undefined : { ...who, tokens };
}

interface Tried {
  readonly entry: RollEntry;
  readonly claim: Claim;
  readonly isLetIn: boolean;
}

/** Found by its digest, whoever's it is: so a stranger's costs what one of a host that is not let in does. */
function tryVerifyHostToken(hub: AuthHub, { entry, claim, isLetIn }: Tried): AuthenticatedHost | undefined {
  const digest = digestOf(hub, claim.bearer);
  const hostToken = entry.hostTokens.find((token) => token.digest === digest);
  if (!isLetIn || hostToken === undefined) return undefined;
  return { entry, rung: 'host-token', tokens: NO_TOKENS, version: null, hostToken, life: entry.life };
}

/** Keyed, of the whole text: what is no token has a digest too, and nobody's. */
function digestOf({ vault }: AuthHub, bearer: string): string {
  return keyOf(vault.digest(utf8(bearer.trim())));
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

function tryVerifyBearer(hub: AuthHub, { entry, claim, isLetIn }: Tried): AuthenticatedHost | undefined {
  // Who is not let in is verified too, against a life that it does not have: a right bearer then costs what a wrong one does.
  const life = entry.life + (isLetIn ? 0 : 1);
  const present = verifyLife(hub, claim, life);
  if (isLetIn && present !== undefined) return derived(entry, present, life);
  // And once more, whether there is a former life or not.
  const former = verifyLife(hub, claim, isLetIn ? Math.max(life - 1, 1) : life);
  const isFormerGood = entry.formerLifeUntil !== null && life > 1 && hub.clock.now() < entry.formerLifeUntil;
  if (!isLetIn || !isFormerGood || former === undefined) return undefined;
  return derived(entry, former, life - 1);
}

function derived(entry: RollEntry, version: number, life: number): AuthenticatedHost {
  return { entry, rung: 'derived', tokens: NO_TOKENS, version, hostToken: null, life };
}

function verifyLife(hub: AuthHub, claim: Claim, life: number): number | undefined {
  try {
    return hub.generations.verify(claim.host, life, claim.bearer).version;
  } catch (error) {
    if (isRollcallError(error, 'unauthenticated')) return undefined;
    throw error;
  }
}
