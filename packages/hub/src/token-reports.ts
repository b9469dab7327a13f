/**
 * What the agents last said of their listeners, counters, probes and sinks. In memory, since each beat says it again; but since
 * when a count is flat is in the store, so that a restart of the hub is not a hit.
 */
import { limits } from '@rollcall/core/limits';
import {
  type CountRecord,
  type HitSource,
  noteCount,
  type Probe,
  type Quiet,
  type SinkState,
} from '@rollcall/core/rotation';
import type { Settings } from './hub.ts';
import type { Vault } from './kek/vault.ts';
import type { Db } from './store/schema.ts';
import { listTokenCounts, type TokenCount, writeTokenCount } from './store/token-counts.ts';
import { listTokenNames } from './store/tokens.ts';

export interface HostReport {
  /** Of its TCP listener, which takes the tokens that it holds; `null` where none is configured. */
  readonly listener: 'open' | 'closed' | null;
  /** Who sent what to it. */
  readonly sources: readonly (HitSource & { readonly secret: string; readonly version: number })[];
  /** Of its own listener, for the step that it held, by secret. */
  readonly probes: ReadonlyMap<string, Probe & { readonly step: number }>;
  readonly sinks: readonly SinkHolding[];
}

/** Which version a sink's live file was found to hold; `null`: none that is known. */
export interface SinkHolding extends Omit<SinkState, 'isCurrent' | 'isTold'> {
  readonly secret: string;
  /** Of which step whoever reads it was told; `null`: of none that is known. */
  readonly toldOf: number | null;
  readonly holds: number | null;
}

export const noReport: HostReport = { listener: null, sources: [], probes: new Map(), sinks: [] };

export interface TokenReports {
  of(host: string): HostReport;
  /** Whether it was heard in this life since the hub began: before that nothing is known of what it has. */
  has(host: string): boolean;
  /** Whether it was heard, and said that it has nothing: as most hosts, with every beat. */
  isSilent(host: string): boolean;
  write(host: string, report: HostReport): void;
  /** That the host said it has a listener, open or closed. */
  noteListener(host: string, atMs: number): void;
  /** When it said so last, in this life and since the hub began. */
  listenerSaidAt(host: string): number | null;
  /** What was said in a life that has ended is nothing that the next one says. */
  forget(host: string): void;
  /** Of the host's count of a version; `null`: it never said one. A beat that does not name the version is no report of it. */
  quiet(host: string, secret: string, version: number): Quiet | null;
  /** How often the version came to the host, as far as it is known. */
  hits(host: string, secret: string, version: number): number;
  /** What cannot be written is no reason to refuse a beat: after a restart its count is another one, and its window begins anew. */
  count(
    counted: Pick<TokenCount, 'secret' | 'member' | 'version' | 'counter' | 'count'>,
    nowMs: number,
    settings: Pick<Settings, 'beatMs' | 'quietWindowMs'>,
  ): Promise<void>;
  /** At a clean stop: when each was reported last. Without it the time since that was written is taken for a gap. */
  save(): Promise<void>;
  /** Of a token whose rotation has ended. */
  forgetSecret(secret: string): void;
}

/** A report is recent, and one follows another without a gap, within this. */
export function reportedWithinMs({ beatMs }: Pick<Settings, 'beatMs'>): number {
  return Math.max(limits.freshMinMs, limits.freshIntervals * beatMs);
}

/** When a count was reported last is written so many times in a window, where nothing else is to be written. */
const WRITES_PER_WINDOW = 20;

export async function createTokenReports({ db, vault }: { db: Db; vault: Vault }): Promise<TokenReports> {
  const reports = new Map<string, HostReport>();
  const listeners = new Map<string, number>();
  const records = new Map<string, CountRecord>();
  /** When it was reported last, as far as that is written. */
  const written = new Map<string, number>();
  const key = (secret: string, member: string, version: number) => `${secret} ${member} ${version}`;
  // One that cannot be read was never said: its window begins anew.
  for (const name of await listTokenNames(db).catch(() => [])) {
    for (const { secret, member, version, ...record } of await listTokenCounts(db, vault, name).catch(() => [])) {
      records.set(key(secret, member, version), record);
      written.set(key(secret, member, version), record.reportedAtMs);
    }
  }
  return {
    has: (host) => reports.has(host),
    isSilent: (host) => reports.get(host) === noReport,
    of: (host) => reports.get(host) ?? noReport,
    write: (host, report) => void reports.set(host, report),
    noteListener: (host, atMs) => void listeners.set(host, atMs),
    listenerSaidAt: (host) => listeners.get(host) ?? null,
    forget: (host) => {
      reports.delete(host);
      listeners.delete(host);
    },
    quiet: (host, secret, version) => {
      const record = records.get(key(secret, host, version));
      return record === undefined ? null : { flatSinceMs: record.flatSinceMs, reportedAtMs: record.reportedAtMs };
    },
    hits: (host, secret, version) => records.get(key(secret, host, version))?.hits ?? 0,
    count: async ({ secret, member, version, ...report }, nowMs, settings) => {
      const of = key(secret, member, version);
      const before = records.get(of) ?? null;
      const record = noteCount(before, report, nowMs, reportedWithinMs(settings));
      records.set(of, record);
      const isCountSame = before?.counter === record.counter && before.count === record.count;
      const isSame = isCountSame && before.flatSinceMs === record.flatSinceMs;
      if (isSame && nowMs - (written.get(of) ?? 0) < settings.quietWindowMs / WRITES_PER_WINDOW) return;
      written.set(of, nowMs);
      const counted = { secret, member, version, ...record };
      await db
        .transaction()
        .execute((tx) => writeTokenCount(tx, vault, counted))
        .catch(() => undefined);
    },
    save: async () => {
      const late = [...records].filter(([of, { reportedAtMs }]) => reportedAtMs !== written.get(of));
      await db.transaction().execute(async (tx) => {
        for (const [of, record] of late) {
          const [secret = '', member = '', version] = of.split(' ');
          await writeTokenCount(tx, vault, { secret, member, version: Number(version), ...record });
        }
      });
    },
    forgetSecret: (secret) => {
      for (const of of records.keys()) {
        if (!of.startsWith(`${secret} `)) continue;
        records.delete(of);
        written.delete(of);
      }
      for (const [host, report] of reports) {
        const sources = report.sources.filter((source) => source.secret !== secret);
        if (sources.length < report.sources.length) reports.set(host, { ...report, sources });
      }
    },
  };
}
