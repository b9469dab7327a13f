/**
 * Who was let in by a rung below the highest, so that it can be closed by evidence (design 5). In memory: it is written at a clean
 * stop and read at the next start; after any other stop nobody knows who came, and counting begins anew.
 */
import type { JsonValue } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import type { HitSource } from '@rollcall/core/rotation';
import { closingOf, isRung, noteSighting, type Rung, rungs, type Sightings } from '@rollcall/core/rungs';
import { networkOf } from '@rollcall/wire';
import type { HubClock } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import { deleteMeta, findMeta, writeMeta } from './store/meta.ts';
import { findRunning } from './store/rotations.ts';
import type { Db } from './store/schema.ts';
import { orUnreadable } from './store/trust-row.ts';

export interface RungSightings {
  note(rung: Rung, source: HitSource): void;
  of(rung: Rung): Sightings;
  /** At a clean stop, while a rung is being closed: at any other time nobody waits for a count. */
  save(): Promise<void>;
}

/** Taken away when it is read, so that no second start goes on from it. */
const LEFT_BEHIND = 'rung_sightings';

export async function createRungSightings(deps: {
  readonly db: Db;
  readonly vault: Vault;
  readonly clock: Pick<HubClock, 'now'>;
}): Promise<RungSightings> {
  const { db, vault, clock } = deps;
  const fresh: Sightings = { countedSinceMs: clock.now(), count: 0, sources: [], forgottenAtMs: null };
  const left = await db.transaction().execute(async (tx) => {
    const text = await findMeta(tx, vault, LEFT_BEHIND);
    if (text !== undefined) await deleteMeta(tx, LEFT_BEHIND);
    return text;
  });
  const held = new Map<Rung, Sightings>(left === undefined ? [] : read(left));
  const of = (rung: Rung) => held.get(rung) ?? fresh;
  return {
    note: (rung, source) => void held.set(rung, noteSighting(of(rung), source, limits.oldHitSources, networkOf)),
    of,
    save: async () => {
      const walks = await Promise.all(rungs.map((rung) => orUnreadable(findRunning(db, vault, closingOf(rung)))));
      if (walks.every((walk) => walk === undefined)) return;
      const text = JSON.stringify(Object.fromEntries(rungs.map((rung) => [rung, of(rung)])));
      await db.transaction().execute((tx) => writeMeta(tx, vault, LEFT_BEHIND, text));
    },
  };
}

/** What this hub wrote itself, under its MAC. */
function read(text: string): [Rung, Sightings][] {
  const kept = JSON.parse(text) as Readonly<Record<string, JsonValue>>;
  return Object.entries(kept).flatMap(([rung, sightings]) =>
    isRung(rung) ? [[rung, sightings as unknown as Sightings]] : [],
  );
}
