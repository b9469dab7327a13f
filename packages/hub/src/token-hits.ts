/**
 * What this replica was sent of each version of a shared token, and by whom while a version is on its way out (design 5,
 * Counters). In memory: it is written at a clean stop and read at the next start; after any other stop a new counter
 * begins, since hits may be lost.
 */
import { encodeBase64url } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import type { Random } from '@rollcall/core/ports';
import { type CountRecord, type HitSource, keepFairly, noteCount } from '@rollcall/core/rotation';
import type { TokenRole } from '@rollcall/core/verify';
import { networkOf } from '@rollcall/wire';
import type { Attendance } from './attendance.ts';
import type { Vault } from './kek/vault.ts';
import { deleteMeta, findMeta, writeMeta } from './store/meta.ts';
import type { Db } from './store/schema.ts';
import { listTokenCounts, writeTokenCount } from './store/token-counts.ts';
import { listTokenNames } from './store/tokens.ts';
import { orUnreadable } from './store/trust-row.ts';

/** On SQLite there is one replica, this process. */
export const REPLICA = 'replica:local';

export interface TokenHits {
  note(secret: string, version: number, kind: TokenRole, source: HitSource): void;
  /** Since this process started, by what the version was when it came; each as `secret kind`. */
  byKind(): ReadonlyMap<string, number>;
  /** Of this replica, as of now. */
  count(secret: string, version: number, nowMs: number): CountRecord;
  /** Who sent a version to this replica, the newest first. */
  sources(secret: string, version: number): readonly HitSource[];
  /** Of a token whose rotation has ended; the versions that are sent from now on are counted anew. */
  forget(secret: string): void;
  /** At a clean stop. */
  save(nowMs: number): Promise<void>;
}

/** The counter that a clean stop left behind. Taken away when it is read, so that no second start goes on from it. */
const LEFT_BEHIND = 'token_counter';

export async function createTokenHits(deps: {
  readonly db: Db;
  readonly vault: Vault;
  readonly random: Random;
  readonly attendance: Attendance;
}): Promise<TokenHits> {
  const { db, vault, random, attendance } = deps;
  const records = new Map<string, CountRecord>();
  /** Those that a clean stop left behind: for as long as the hub was down nobody was counted. */
  const resumed = new Set<string>();
  /** How much was missed in all when each was looked at last. */
  const missed = new Map<string, number>();
  const counts = new Map<string, number>();
  const kinds = new Map<string, number>();
  const sources = new Map<string, Map<string, HitSource>>();
  const key = (secret: string, version: number) => `${secret} ${version}`;

  const left = await db.transaction().execute(async (tx) => {
    const left = await findMeta(tx, vault, LEFT_BEHIND);
    if (left === undefined) return undefined;
    for (const name of await listTokenNames(tx)) {
      // One that cannot be read was never said: its window begins anew.
      const counted = await orUnreadable(listTokenCounts(tx, vault, name));
      for (const { member, secret, version, ...record } of counted === 'unreadable' ? [] : counted) {
        if (member !== REPLICA || record.counter !== left) continue;
        records.set(key(secret, version), record);
        resumed.add(key(secret, version));
        counts.set(key(secret, version), record.count);
      }
    }
    await deleteMeta(tx, LEFT_BEHIND);
    return left;
  });
  const counter = left ?? encodeBase64url(random(16));

  const count = (of: string, nowMs: number): CountRecord => {
    const before = records.get(of);
    // This process counts for as long as it runs, whether anybody asks or not: that nobody did is no gap.
    const missedMs = attendance.missedMs();
    const gapMs = missedMs - (missed.get(of) ?? missedMs);
    const known = before === undefined || resumed.delete(of) ? before : countedUntil(before, nowMs, gapMs);
    missed.set(of, missedMs);
    const record = noteCount(known ?? null, { counter, count: counts.get(of) ?? 0 }, nowMs, limits.freshMinMs);
    records.set(of, record);
    return record;
  };

  return {
    note(secret, version, kind, source) {
      const of = key(secret, version);
      kinds.set(`${secret} ${kind}`, (kinds.get(`${secret} ${kind}`) ?? 0) + 1);
      counts.set(of, (counts.get(of) ?? 0) + 1);
      // At once: when it was looked at last must not become when it was sent last. What nobody ever asked for is not on its way out.
      if (records.has(of)) count(of, source.atMs);
      const seen = sources.get(of) ?? new Map<string, HitSource>();
      sources.set(of, seen);
      const from = `${source.address} ${source.userAgent} ${source.route}`;
      seen.delete(from);
      seen.set(from, source);
      if (seen.size > limits.oldHitSources) forgetOne(seen);
    },
    byKind: () => kinds,
    count: (secret, version, nowMs) => count(key(secret, version), nowMs),
    sources: (secret, version) => [...(sources.get(key(secret, version))?.values() ?? [])].reverse(),
    forget: (secret) => {
      for (const kept of [records, counts, sources, missed]) {
        for (const of of kept.keys()) if (of.startsWith(`${secret} `)) kept.delete(of);
      }
    },
    save: async (nowMs) => {
      // A hub that could not even start has counted nothing: it leaves behind what it found.
      if (left === undefined && records.size === 0) return;
      await db.transaction().execute(async (tx) => {
        // Also those that nobody has sent: zero is a count.
        for (const of of records.keys()) {
          const [secret = '', version] = of.split(' ');
          await writeTokenCount(tx, vault, { secret, member: REPLICA, version: Number(version), ...count(of, nowMs) });
        }
        await writeMeta(tx, vault, LEFT_BEHIND, counter);
      });
    },
  };
}

/** A time that was set back is left to be found out. */
function countedUntil(before: CountRecord, nowMs: number, gapMs: number): CountRecord {
  return nowMs < before.reportedAtMs ? before : { ...before, reportedAtMs: nowMs - gapMs };
}

/** The one that was silent for longest, of the network that has most of them: many names of one push nobody out. */
function forgetOne(seen: Map<string, HitSource>): void {
  const newestFirst = [...seen].reverse();
  const kept = new Set(keepFairly(newestFirst, limits.oldHitSources, ([, { address }]) => networkOf(address)));
  for (const one of newestFirst) if (!kept.has(one)) seen.delete(one[0]);
}
