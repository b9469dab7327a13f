/**
 * What the agents last said of their listeners, counters, probes and sinks. In memory, since each beat says it again; but since
 * when a count is flat is in the store, so that a restart of the hub is not a hit.
 */
import {
  type CountRecord,
  type HitSource,
  noteCount,
  type Probe,
  type Quiet,
  type SinkState,
} from '@rollcall/core/rotation';
import type { Vault } from './kek/vault.ts';
import type { Db } from './store/schema.ts';
import { listTokenCounts, type TokenCount, writeTokenCount } from './store/token-counts.ts';
import { listTokenNames } from './store/tokens.ts';

export interface HostReport {
  /** Of its TCP listener, which takes the tokens that it holds; `null` where none is configured. */
  readonly listener: 'open' | 'closed' | null;
  /** When it was said, on the hub's clock. */
  readonly atMs: number;
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

export const noReport: HostReport = { listener: null, atMs: 0, sources: [], probes: new Map(), sinks: [] };

export interface TokenReports {
  of(host: string): HostReport;
  /** Whether it was heard in this life since the hub began: before that nothing is known of what it has. */
  has(host: string): boolean;
  write(host: string, report: HostReport): void;
  /** What was said in a life that has ended is nothing that the next one says. */
  forget(host: string): void;
  /** Of the host's count of a version; `null`: it never said one. A beat that does not name the version is no report of it. */
  quiet(host: string, secret: string, version: number): Quiet | null;
  /** What cannot be written is no reason to refuse a beat: after a restart its count is another one, and its window begins anew. */
  count(counted: Pick<TokenCount, 'secret' | 'member' | 'version' | 'counter' | 'count'>, nowMs: number): Promise<void>;
}

export async function createTokenReports({ db, vault }: { db: Db; vault: Vault }): Promise<TokenReports> {
  const reports = new Map<string, HostReport>();
  const records = new Map<string, CountRecord>();
  const reportedAtMs = new Map<string, number>();
  const key = (secret: string, member: string, version: number) => `${secret} ${member} ${version}`;
  // One that cannot be read was never said: its window begins anew.
  for (const name of await listTokenNames(db).catch(() => [])) {
    for (const { secret, member, version, ...record } of await listTokenCounts(db, vault, name).catch(() => [])) {
      records.set(key(secret, member, version), record);
    }
  }
  return {
    has: (host) => reports.has(host),
    of: (host) => reports.get(host) ?? noReport,
    write: (host, report) => void reports.set(host, report),
    forget: (host) => void reports.delete(host),
    quiet: (host, secret, version) => {
      const of = key(secret, host, version);
      const record = records.get(of);
      return record === undefined ? null : { flatSinceMs: record.flatSinceMs, reportedAtMs: reportedAtMs.get(of) ?? 0 };
    },
    count: async ({ secret, member, version, ...report }, nowMs) => {
      const of = key(secret, member, version);
      const before = records.get(of) ?? null;
      const record = noteCount(before, report, nowMs);
      reportedAtMs.set(of, nowMs);
      if (record === before) return;
      records.set(of, record);
      const counted = { secret, member, version, ...record };
      await db
        .transaction()
        .execute((tx) => writeTokenCount(tx, vault, counted))
        .catch(() => undefined);
    },
  };
}
