/**
 * The generations of the master that verify at this moment, held in memory so that a heartbeat needs no disk. Loaded
 * from the store and from nowhere else; whether a window is open is asked of the hub's clock at every verification.
 */
import { RollcallError } from '@rollcall/core/errors';
import { liveGenerations } from '@rollcall/core/rotation';
import { createBearerVerifier } from '@rollcall/core/verify';
import type { HubClock } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import { type LiveRecord, listUndestroyed } from './store/generations.ts';
import type { Db } from './store/schema.ts';

export const MASTER = 'master';

export interface LiveGenerations {
  reload(): Promise<void>;
  /** Throws `unauthenticated`, or `unavailable` while the store of generations cannot be read. */
  verify(host: string, life: number, presented: string): { readonly version: number };
  readonly current: LiveRecord | undefined;
  /** The one before, until its value is destroyed; its window may have closed. */
  readonly previous: LiveRecord | undefined;
  /** Its value, or `store_unreadable`. */
  read(version: number): LiveRecord & { readonly value: NonNullable<LiveRecord['value']> };
  readonly isReadable: boolean;
}

export function createLiveGenerations(deps: { db: Db; vault: Vault; clock: HubClock }): LiveGenerations {
  const { db, vault, clock } = deps;
  let held: LiveRecord[] = [];
  let readable = false;
  let verifying: { readonly key: string; readonly verify: ReturnType<typeof createBearerVerifier> } | undefined;

  const current = () => held.find((generation) => generation.state === 'current');
  const previous = () => held.find((generation) => generation.state === 'previous');

  return {
    async reload() {
      // Until the answer is here, what is held goes on verifying: a beat in between must not be refused.
      try {
        held = await listUndestroyed(db, vault, MASTER);
        verifying = undefined;
        readable = true;
      } catch (error) {
        readable = false;
        throw error;
      }
    },

    verify(host, life, presented) {
      if (!readable) throw new RollcallError('unavailable', { because: 'generations_unreadable' });
      const live = liveGenerations(held, clock.now());
      const key = live.map((generation) => generation.version).join(' ');
      if (verifying?.key !== key) verifying = { key, verify: createBearerVerifier(live.map(toMasterGeneration)) };
      return verifying.verify(host, life, presented);
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
      return readable;
    },
  };
}

export function toMasterGeneration(generation: LiveRecord) {
  if (generation.value === undefined)
    throw new RollcallError('store_unreadable', { table: 'generations', row: String(generation.version) });
  return { version: generation.version, master: generation.value.reveal(), scheme: generation.scheme };
}
