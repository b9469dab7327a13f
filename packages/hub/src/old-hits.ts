/** Who still presents the generation that is about to go: a count, and the newest source of each host (design 5). */
export interface OldHits {
  note(version: number, hit: OldHit): void;
  read(version: number): {
    readonly count: number;
    readonly lastAtMs: number | null;
    readonly sources: readonly OldHit[];
  };
}

export interface OldHit {
  readonly host: string;
  readonly address: string;
  readonly atMs: number;
}

/** At most `limits.oldHitSources` sources are kept; the count goes on. */
export function createOldHits(maxSources: number): OldHits {
  let counted = { version: 0, count: 0, lastAtMs: null as number | null, sources: new Map<string, OldHit>() };
  return {
    note(version, hit) {
      if (counted.version !== version) counted = { version, count: 0, lastAtMs: null, sources: new Map() };
      counted.count += 1;
      counted.lastAtMs = hit.atMs;
      const key = `${hit.host} ${hit.address}`;
      if (counted.sources.has(key) || counted.sources.size < maxSources) counted.sources.set(key, hit);
    },
    read(version) {
      if (counted.version !== version) return { count: 0, lastAtMs: null, sources: [] };
      return { count: counted.count, lastAtMs: counted.lastAtMs, sources: [...counted.sources.values()] };
    },
  };
}
