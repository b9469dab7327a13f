/**
 * The shared tokens that verify at this moment, held in memory as the generations of the master are: read from the store and
 * from nowhere else, and what the hub's clock ends is asked of it at every verification.
 */
import { decodeUtf8 } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import type { SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { oldTokenVerifies, type Rotation, replicaAccepts, retiringVersion } from '@rollcall/core/rotation';
import { createTokenVerifier, type TokenRole, type TokenVerifier } from '@rollcall/core/verify';
import type { HubClock } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import { createSharedRun } from './shared-run.ts';
import { findRunning } from './store/rotations.ts';
import type { Db } from './store/schema.ts';
import {
  findToken,
  listTokenNames,
  listTokenVersions,
  type TokenRecord,
  type TokenVersionRecord,
} from './store/tokens.ts';
import { EVERY_HOST, readTrustVersion } from './store/trust-changes.ts';
import { orUnreadable } from './store/trust-row.ts';

export interface PresentedToken {
  readonly secret: string;
  readonly version: number;
  /** What it was to the hub when it came. */
  readonly kind: TokenRole;
}

export interface LiveTokens {
  reload(): Promise<void>;
  /** Before a refusal: reads them again where they changed since, or could not be read. */
  catchUp(): Promise<void>;
  /** Throws `unauthenticated`, or `unavailable` when they could not be read for 30 s (I8). */
  verify(presented: string): PresentedToken;
  /** Their names. */
  secrets(): readonly string[];
  /** The versions of it that are taken at this moment. */
  accepts(secret: string): readonly number[];
  /** The version of it that is on its way out; `null` while no rotation runs. */
  retiring(secret: string): number | null;
  /** The value that is taken as this version, or `store_unreadable`. */
  read(secret: string, version: number): SecretBytes<'token'>;
  /** The names of those whose rows this hub did not write so, or that are damaged. */
  unreadable(): readonly string[];
  /** The names of those whose value in force can be guessed. */
  weak(): readonly string[];
  /** Monotonic, when memory was as new as the store: it may say yes for 30 s after that (I8). */
  readonly asNewAtMs: number;
}

interface TokenRows {
  readonly token: TokenRecord;
  readonly versions: readonly TokenVersionRecord[];
  readonly rotation: Rotation | undefined;
}

interface HeldToken {
  readonly name: string;
  /** As they were read last; `undefined`: never. */
  readonly rows: TokenRows | undefined;
  /** Monotonic, since when this one cannot be read; `null` while it can. */
  readonly unreadableSince: number | null;
}

export function createLiveTokens(deps: { db: Db; vault: Vault; clock: HubClock }): LiveTokens {
  const { db, vault, clock } = deps;
  let held: readonly HeldToken[] = [];
  let heldVersion = 0;
  /** Monotonic, when the store was read last, once it cannot be read; `null` while it can (I8). */
  let unreadableSince: number | null = Number.NEGATIVE_INFINITY;
  let asNewAtMs = Number.NEGATIVE_INFINITY;
  let prepared: { readonly slots: readonly Slot[]; readonly untilMs: number } | undefined;

  const reload = async () => {
    const beganAtMs = clock.monotonic();
    try {
      const version = await readTrustVersion(db, EVERY_HOST);
      held = await readTokens(held);
      heldVersion = version;
      prepared = undefined;
      asNewAtMs = beganAtMs;
      unreadableSince = null;
    } catch (error) {
      unreadableSince ??= asNewAtMs;
      throw error;
    }
  };

  /** One that cannot be read concerns nobody who sends another: what it was is remembered, and said yes to for a while (I8). */
  const readTokens = async (before: readonly HeldToken[]): Promise<HeldToken[]> => {
    const tokens: HeldToken[] = [];
    for (const name of await listTokenNames(db)) {
      const rows = await orUnreadable(readRows(db, vault, name, clock.now()));
      const former = before.find((token) => token.name === name);
      if (rows !== 'unreadable') tokens.push({ name, rows, unreadableSince: null });
      else tokens.push({ name, rows: former?.rows, unreadableSince: former?.unreadableSince ?? asNewAtMs });
    }
    return tokens;
  };

  const isOver = (since: number | null) => since !== null && clock.monotonic() - since >= limits.cachedYesMs;

  const slotsNow = (): readonly Slot[] => {
    if (isOver(unreadableSince)) throw new RollcallError('unavailable', { because: 'tokens_unreadable' });
    const now = clock.now();
    if (prepared === undefined || now >= prepared.untilMs) prepared = prepare(held, now);
    return prepared.slots;
  };

  const rowsOf = (secret: string) => held.find(({ name }) => name === secret)?.rows;

  return {
    reload,

    catchUp: createSharedRun(async () => {
      const beganAtMs = clock.monotonic();
      const isWhole = unreadableSince === null && held.every((token) => token.unreadableSince === null);
      if (!isWhole || (await readTrustVersion(db, EVERY_HOST)) !== heldVersion) await reload();
      else asNewAtMs = beganAtMs;
    }),

    verify(presented) {
      let found: PresentedToken | undefined;
      // Every one is asked: time tells neither which secret was meant nor that one was.
      for (const { secret, verifier, retiring, next, unreadableSince: since } of slotsNow()) {
        if (isOver(since)) continue;
        const version = tryVerify(verifier, presented);
        const kind = version === retiring ? 'retiring' : version === next ? 'next' : 'current';
        if (version !== undefined) found = { secret, version, kind };
      }
      if (found !== undefined) return found;
      // It may be of the one that nobody can read: no answer is not a no.
      const isWhole = held.every((token) => token.unreadableSince === null);
      throw isWhole
        ? new RollcallError('unauthenticated')
        : new RollcallError('unavailable', { because: 'tokens_unreadable' });
    },

    secrets: () => held.map(({ name }) => name),

    accepts: (secret) => slotsNow().find((slot) => slot.secret === secret)?.versions ?? [],

    retiring(secret) {
      const rotation = rowsOf(secret)?.rotation;
      return rotation === undefined ? null : retiringVersion(rotation);
    },

    read(secret, version) {
      const value = rowsOf(secret)?.versions.find((candidate) => candidate.version === version)?.value;
      if (value === undefined) {
        throw new RollcallError('store_unreadable', { table: 'token_versions', row: `${secret}/${version}` });
      }
      return value;
    },

    weak: () => held.flatMap(({ name, rows }) => (rows?.token.weak === true ? [name] : [])),

    get asNewAtMs() {
      return asNewAtMs;
    },

    unreadable: () => held.flatMap(({ name, unreadableSince: since }) => (since === null ? [] : [name])),
  };
}

/** Throws `store_unreadable`, also where a version that is to be taken has no value. */
async function readRows(db: Db, vault: Vault, name: string, nowMs: number): Promise<TokenRows> {
  const token = await findToken(db, vault, name);
  if (token === undefined) throw new RollcallError('store_unreadable', { table: 'tokens', row: name });
  const versions = await listTokenVersions(db, vault, name);
  const rows = { token, versions, rotation: await findRunning(db, vault, name) };
  toSlot(rows, null, nowMs);
  return rows;
}

interface Slot {
  readonly secret: string;
  readonly versions: readonly number[];
  readonly verifier: TokenVerifier;
  /** Before callers switch there is a next version, and once they do a retiring one. */
  readonly next: number | null;
  readonly retiring: number | null;
  readonly unreadableSince: number | null;
}

/** Good until the next time at which an old version is refused, whoever presents it. */
function prepare(
  held: readonly HeldToken[],
  nowMs: number,
): { readonly slots: readonly Slot[]; readonly untilMs: number } {
  const ends = held.flatMap(({ rows }) => {
    const end = rows?.rotation?.terms?.narrowByMs ?? null;
    return end !== null && end > nowMs ? [end] : [];
  });
  const slots = held.flatMap(({ rows, unreadableSince }) =>
    rows === undefined ? [] : [toSlot(rows, unreadableSince, nowMs)],
  );
  return { slots, untilMs: Math.min(...ends) };
}

function toSlot({ token, versions, rotation }: TokenRows, unreadableSince: number | null, nowMs: number): Slot {
  const accepted =
    rotation === undefined ? [token.currentVersion] : replicaAccepts(rotation, oldTokenVerifies(rotation, nowMs));
  const [current, next] = accepted.map((version) => ({ version, value: textOf(token.name, versions, version) }));
  if (current === undefined) throw new TypeError(`no version of ${token.name} is taken`);
  const set = { current, ...(next === undefined ? {} : { next }), weak: token.weak };
  const isWidening = rotation?.phase === 'planned' || rotation?.phase === 'widening';
  return {
    secret: token.name,
    versions: accepted,
    verifier: createTokenVerifier(set),
    next: rotation !== undefined && isWidening ? rotation.to : null,
    retiring: rotation === undefined || isWidening ? null : retiringVersion(rotation),
    unreadableSince,
  };
}

function textOf(secret: string, versions: readonly TokenVersionRecord[], version: number): string {
  const value = versions.find((candidate) => candidate.version === version)?.value;
  const text = value === undefined ? undefined : decodeUtf8(value.reveal());
  if (text === undefined) {
    throw new RollcallError('store_unreadable', { table: 'token_versions', row: `${secret}/${version}` });
  }
  return text;
}

function tryVerify(verifier: TokenVerifier, presented: string): number | undefined {
  try {
    return verifier.verify(presented).version;
  } catch (error) {
    if (isRollcallError(error, 'unauthenticated')) return undefined;
    throw error;
  }
}
