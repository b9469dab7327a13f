/**
 * The generations of the master that verify at this moment, held in memory so that a heartbeat needs no disk. Loaded
 * from the store and from nowhere else; whether a window is open is asked of the hub's clock at every verification.
 */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { liveGenerations } from '@rollcall/core/rotation';
import { type BearerVerifier, createBearerVerifier } from '@rollcall/core/verify';
import type { HubClock } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import { createSharedRun } from './shared-run.ts';
import { type LiveRecord, listUndestroyed } from './store/generations.ts';
import type { Db } from './store/schema.ts';
import { EVERY_HOST, readTrustVersion } from './store/trust-changes.ts';

export const MASTER = 'master';

export interface LiveGenerations {
  reload(): Promise<void>;
  /** Before a refusal: reads them again where they changed since, or could not be read, and makes it last. */
  catchUp(): Promise<void>;
  /**
   * Throws `unauthenticated`, or `unavailable` when the store of generations could not be read for 30 s: what was read
   * before may say yes for as long (I8).
   */
  verify(host: string, life: number, presented: string): { readonly version: number };
  /** Whether bearers of this version are taken at this moment. */
  isLive(version: number): boolean;
  /** All that are live now: the same array for as long as they are the same. Empty once they could not be read for 30 s. */
  readonly versions: readonly number[];
  readonly current: LiveRecord | undefined;
  /** The one before, until its value is destroyed; its window may have closed. */
  readonly previous: LiveRecord | undefined;
  /** Its value, or `store_unreadable`. */
  read(version: number): LiveRecord & { readonly value: NonNullable<LiveRecord['value']> };
  readonly isReadable: boolean;
  /** Monotonic, when memory was as new as the store: it may say yes for 30 s after that (I8). */
  readonly asNewAtMs: number;
}

export function createLiveGenerations(deps: { db: Db; vault: Vault; clock: HubClock }): LiveGenerations {
  const { db, vault, clock } = deps;
  let held: readonly LiveRecord[] = [];
  let heldVersion = 0;
  /** Monotonic, when the store was read last, once it cannot be read; `null` while it can. Nothing was before the first reload. */
  let unreadableSince: number | null = Number.NEGATIVE_INFINITY;
  let asNewAtMs = Number.NEGATIVE_INFINITY;
  let prepared: PreparedVerifier | undefined;
  /** The end of a window that the stored floor of the clock is past of. */
  let recordedEndMs: number | null = null;

  const current = () => held.find((generation) => generation.state === 'current');
  const previous = () => held.find((generation) => generation.state === 'previous');

  const reload = async () => {
    // Until the answer is here, what is held goes on verifying: a beat in between must not be refused.
    const beganAtMs = clock.monotonic();
    try {
      const version = await readTrustVersion(db, EVERY_HOST);
      held = await listUndestroyed(db, vault, MASTER);
      heldVersion = version;
      prepared = undefined;
      asNewAtMs = beganAtMs;
      unreadableSince = null;
    } catch (error) {
      unreadableSince ??= asNewAtMs;
      throw error;
    }
  };

  /** A refusal for a window that has closed is given once the store knows how late it is: no restart opens it again (I7). */
  const recordClosing = async () => {
    const endsMs = previous()?.verifyUntilMs ?? null;
    if (endsMs === null || endsMs === recordedEndMs || clock.now() < endsMs) return;
    await clock.save(db);
    recordedEndMs = endsMs;
  };

  /** What was read before may say yes for 30 s after it cannot be read any more (I8). */
  const isTooOld = () => unreadableSince !== null && clock.monotonic() - unreadableSince >= limits.cachedYesMs;

  /** Of this moment: in a window that is open nothing is prepared anew. */
  const prepareNow = (): PreparedVerifier => {
    const now = clock.now();
    if (prepared === undefined || now >= prepared.untilMs) prepared = prepare(held, now);
    return prepared;
  };

  return {
    reload,

    catchUp: createSharedRun(async () => {
      const beganAtMs = clock.monotonic();
      const isNew = (await readTrustVersion(db, EVERY_HOST)) !== heldVersion;
      if (isNew || unreadableSince !== null) await reload();
      else asNewAtMs = beganAtMs;
      await recordClosing();
    }),

    verify(host, life, presented) {
      if (isTooOld()) {
        throw new RollcallError('unavailable', { because: 'generations_unreadable' });
      }
      return prepareNow().verify(host, life, presented);
    },

    isLive: (version) => prepareNow().versions.includes(version),

    get versions() {
      return isTooOld() ? NONE : prepareNow().versions;
    },

    get current() {
      return current();
    },

    get previous() {
      return previous();
    },

    read(version) {
      const generation = held.find((candidate) => candidate.version === version);
      if (generation?.value === undefined) {
        throw new RollcallError('store_unreadable', { table: 'generations', row: String(version) });
      }
      return { ...generation, value: generation.value };
    },

    get isReadable() {
      return unreadableSince === null;
    },

    get asNewAtMs() {
      return asNewAtMs;
    },
  };
}

const NONE: readonly number[] = [];

interface PreparedVerifier {
  readonly verify: BearerVerifier;
  /** Of the generations that it takes. */
  readonly versions: readonly number[];
  readonly untilMs: number;
}

/** Good until the window of the previous generation closes. It never opens again: the hub's clock does not go back. */
function prepare(held: readonly LiveRecord[], nowMs: number): PreparedVerifier {
  const live = liveGenerations(held, nowMs);
  const ends = live.flatMap(({ state, verifyUntilMs }) => (state === 'previous' ? (verifyUntilMs ?? nowMs) : []));
  return {
    verify: createBearerVerifier(live.map(toMasterGeneration)),
    versions: live.map(({ version }) => version),
    untilMs: Math.min(...ends),
  };
}

export function toMasterGeneration(generation: LiveRecord) {
  if (generation.value === undefined)
    throw new RollcallError('store_unreadable', { table: 'generations', row: String(generation.version) });
  return { version: generation.version, master: generation.value.reveal(), scheme: generation.scheme };
}
