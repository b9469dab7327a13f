/**
 * Who was let in by a rung below the highest, so that it can be closed by evidence (design 5). In memory: it is written at a clean
 * stop and read at the next start; after any other stop nobody knows who came, and counting begins anew.
 */
import { limits } from '@rollcall/core/limits';
import type { HitSource } from '@rollcall/core/rotation';
import { closings, noteGap, noteSighting, type Rung, rungs, type Sightings } from '@rollcall/core/rungs';
import { networkOf } from '@rollcall/wire';
import type { Attendance } from './attendance.ts';
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
  readonly attendance: Attendance;
}): Promise<RungSightings> {
  const { db, vault, clock, attendance } = deps;
  const startedMs = clock.now();
  let lookedAtMs = startedMs;
  let missedMs = attendance.missedMs();
  const left = await db.transaction().execute(async (tx) => {
    const text = await findMeta(tx, vault, LEFT_BEHIND);
    if (text !== undefined) await deleteMeta(tx, LEFT_BEHIND);
    return text;
  });
  const kept = left === undefined ? NOTHING_KEPT : read(left);
  // For as long as the hub was stopped nobody was counted.
  const held = new Map(rungs.map((rung) => [rung, kept(rung, startedMs) ?? beginning(startedMs)]));

  const lookAgain = (): void => {
    const nowMs = clock.now();
    const inAllMs = attendance.missedMs();
    const gapMs = inAllMs - missedMs;
    if (gapMs > 0 || nowMs < lookedAtMs) {
      for (const [rung, sightings] of held) held.set(rung, noteGap(sightings, gapMs, nowMs));
    }
    missedMs = inAllMs;
    lookedAtMs = nowMs;
  };
  const of = (rung: Rung): Sightings => {
    lookAgain();
    return held.get(rung) as Sightings;
  };
  return {
    note: (rung, source) => void held.set(rung, noteSighting(of(rung), source, limits.oldHitSources, networkOf)),
    of,
    save: async () => {
      const walks = await Promise.all(closings.map((secret) => orUnreadable(findRunning(db, vault, secret))));
      if (walks.every((walk) => walk === undefined)) return;
      const ofRungs = Object.fromEntries(rungs.map((rung) => [rung, of(rung)]));
      const text = JSON.stringify({ atMs: lookedAtMs, rungs: ofRungs });
      await db.transaction().execute((tx) => writeMeta(tx, vault, LEFT_BEHIND, text));
    },
  };
}

function beginning(nowMs: number): Sightings {
  return { countedSinceMs: nowMs, count: 0, sources: [], forgottenAtMs: null };
}

type Kept = (rung: Rung, nowMs: number) => Sightings | undefined;

const NOTHING_KEPT: Kept = () => undefined;

/** What this hub wrote itself, under its MAC. A version that did not say when it stopped has left nothing that could be gone on from. */
function read(text: string): Kept {
  const { atMs, rungs: ofRungs } = JSON.parse(text) as {
    readonly atMs?: number;
    readonly rungs?: Partial<Record<Rung, Sightings>>;
  };
  if (atMs === undefined || ofRungs === undefined) return NOTHING_KEPT;
  return (rung, nowMs) => {
    const sightings = ofRungs[rung];
    const gapMs = nowMs - atMs;
    return sightings && noteGap(sightings, gapMs > limits.freshMinMs ? gapMs : 0, nowMs);
  };
}
