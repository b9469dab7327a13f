/** The tokens of hosts in memory: which let a host in, and whose a presented one is, found by its keyed digest (design 3). */
import type { StoredHostToken } from './store/host-tokens.ts';

export interface HostTokenEntry {
  readonly id: string;
  /** As it is looked up. */
  readonly digest: string;
  readonly issuedAtMs: number;
  /** When it was seen first; `null` until then. */
  readonly seenAtMs: number | null;
}

interface Holder {
  readonly id: string;
  readonly life: number;
  hostTokens: readonly HostTokenEntry[];
  areHostTokensReadable: boolean;
  wasSeenByToken: boolean;
}

const NONE: readonly HostTokenEntry[] = [];

/** Those of another life are dead, whatever their rows say. */
export function applyHostTokens(entry: Holder, stored: readonly StoredHostToken[]): void {
  const readable = stored.flatMap(({ token }) => (token === 'unreadable' ? [] : [token]));
  const present = readable.filter(({ life }) => life === entry.life);
  const live = present.filter(({ isLive }) => isLive);
  entry.areHostTokensReadable = readable.length === stored.length;
  entry.wasSeenByToken = present.some(({ seenAtMs }) => seenAtMs !== null);
  entry.hostTokens =
    live.length === 0
      ? NONE
      : live.map(({ id, digest, issuedAtMs, seenAtMs }) => ({ id, digest: keyOf(digest), issuedAtMs, seenAtMs }));
}

export interface HostTokenIndex<Entry> {
  /** In place of what was known of this host. Rows that cannot be read are found too: they are somebody's, and no stranger's. */
  put(host: string, entry: Entry, stored: readonly StoredHostToken[]): void;
  drop(host: string): void;
  find(digest: string): Entry | undefined;
}

export function createHostTokenIndex<Entry>(): HostTokenIndex<Entry> {
  const byDigest = new Map<string, { readonly host: string; readonly entry: Entry }>();
  const keysOf = new Map<string, readonly string[]>();
  const drop = (host: string) => {
    for (const key of keysOf.get(host) ?? []) if (byDigest.get(key)?.host === host) byDigest.delete(key);
    keysOf.delete(host);
  };
  return {
    put(host, entry, stored) {
      drop(host);
      if (stored.length === 0) return;
      const keys = stored.map(({ digest }) => keyOf(digest));
      for (const key of keys) byDigest.set(key, { host, entry });
      keysOf.set(host, keys);
    },
    drop,
    find: (digest) => byDigest.get(digest)?.entry,
  };
}

/** As a text of one character for each byte. */
export function keyOf(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('latin1');
}
