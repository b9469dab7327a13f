/**
 * The hub's one clock (I7): core's reading of the wall clock over a floor that never moves back. The floor is stored,
 * so that neither a restart nor a clock that is set back opens a window again (design 6, Clocks).
 */

import { RollcallError } from '@rollcall/core/errors';
import { parseJson } from '@rollcall/core/json';
import type { Clock } from '@rollcall/core/ports';
import { acceptHubTime, type HubTime, readHubTime, type StoredHubTime, startHubTime } from '@rollcall/core/rotation';
import type { Vault } from './kek/vault.ts';
import { readMeta, writeMeta } from './store/meta.ts';
import type { Db } from './store/schema.ts';

export interface HubClock {
  /** Unix milliseconds; never less than an earlier answer. */
  now(): number;
  /** Milliseconds for ages and freshness. */
  monotonic(): number;
  /** For decisions that open or issue something. */
  read(): HubTime;
  readonly startedMonotonic: number;
  /** Stores the floor, in the transaction of what rests on it; of `time` where that is about to be accepted. */
  save(db: Db, time?: HubTime): Promise<void>;
  /** What time it is by the wall clock alone. */
  wallTime(): HubTime;
  /** A person said that this is the time, and it is stored. Alone of everything here it may go back. */
  accept(accepted: HubTime): void;
}

/** Of a hub that was never started. */
export const NO_FLOOR: StoredHubTime = { floorMs: 0, jumped: false };

export async function createHubClock(db: Db, vault: Vault, clock: Clock): Promise<HubClock> {
  // Whole milliseconds: instants are stored, and covered by MACs, as whole numbers.
  const reading = () => ({ wallMs: clock.now(), monotonicMs: Math.floor(clock.monotonic()) });
  let time = startHubTime(readStored(await readMeta(db, vault, 'clock')), reading());
  const startedMonotonic = time.monotonicMs;
  const read = () => {
    time = readHubTime(time, reading());
    return time;
  };
  return {
    now: () => read().nowMs,
    monotonic: () => clock.monotonic(),
    read,
    startedMonotonic,
    wallTime: () => acceptHubTime(reading()),
    accept: (accepted) => {
      time = accepted;
    },
    save: (handle, accepted = read()) => {
      const { floorMs, jumped } = accepted;
      return writeMeta(handle, vault, 'clock', encodeHubTime({ floorMs, jumped }));
    },
  };
}

export function encodeHubTime({ floorMs, jumped }: StoredHubTime): string {
  return JSON.stringify({ floorMs, jumped });
}

/** A floor that is not there, or cannot be read, is not a first start (I10). */
function readStored(text: string): StoredHubTime {
  const value = parseJson(text) as { floorMs?: unknown; jumped?: unknown };
  if (typeof value.floorMs !== 'number' || typeof value.jumped !== 'boolean') {
    throw new RollcallError('store_unreadable', { table: 'meta', row: 'clock' });
  }
  return { floorMs: value.floorMs, jumped: value.jumped };
}
