/**
 * Token buckets by key, in bounded memory: the key that was silent for longest is forgotten first. By then it is usually full
 * again; a flood of new keys, which makes it forget too early, is what the bucket for all of them together is for.
 */
export interface Rate {
  readonly perSecond: number;
  /** How many at once, after a pause. */
  readonly burst: number;
}

/** A bucket is `tokens` at `atMs`, and fills while nobody looks. */
export interface Bucket {
  tokens: number;
  atMs: number;
}

export interface RateLimit {
  /** Takes one, and returns 0; or takes none, and returns after how many milliseconds there is one. `nowMs`: monotonic. */
  take(key: string, nowMs: number): number;
}

export function createRateLimit(rate: Rate, maxKeys: number): RateLimit {
  const buckets = new Map<string, Bucket>();
  return {
    take(key, nowMs) {
      const bucket = buckets.get(key) ?? fullBucket(rate, nowMs);
      buckets.delete(key);
      buckets.set(key, bucket);
      if (buckets.size > maxKeys) forgetOldest(buckets);
      return takeFrom(bucket, rate, nowMs);
    },
  };
}

export function fullBucket({ burst }: Rate, nowMs: number): Bucket {
  return { tokens: burst, atMs: nowMs };
}

/** As `take`, of one bucket. */
export function takeFrom(bucket: Bucket, { perSecond, burst }: Rate, nowMs: number): number {
  const gained = (Math.max(0, nowMs - bucket.atMs) * perSecond) / 1_000;
  bucket.tokens = Math.min(burst, bucket.tokens + gained);
  bucket.atMs = nowMs;
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return 0;
  }
  return Math.ceil(((1 - bucket.tokens) * 1_000) / perSecond);
}

/** A Map keeps the order in which its keys were set. */
export function forgetOldest(map: Map<string, unknown>): void {
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
