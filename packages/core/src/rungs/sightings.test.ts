import { describe, expect, it } from 'vitest';
import type { HitSource } from '../rotation/holder.ts';
import { lastStoodOn, noteGap, type Sightings } from './index.ts';

const NOW = 10_000;
const source = (atMs: number, host: string | null = null): HitSource => ({
  address: '192.0.2.9',
  userAgent: 'cron/1',
  route: '/v1/whoami',
  host,
  atMs,
});
const counted: Sightings = { countedSinceMs: 1_000, count: 3, sources: [source(4_000)], forgottenAtMs: 2_000 };

describe('time in which nobody could be counted', () => {
  it('is no part of a window, which goes on where it was', () => {
    const after = noteGap(counted, 500, NOW);
    expect(lastStoodOn(after, [])).toBe(4_500);
    expect(lastStoodOn(noteGap(after, 500, NOW), [])).toBe(5_000);
    // Who stood there is shown as before.
    expect(after).toMatchObject({ count: 3, sources: [source(4_000)], forgottenAtMs: 2_000 });
  });

  it('of nothing changes nothing', () => {
    expect(noteGap(counted, 0, NOW)).toBe(counted);
    expect(noteGap(counted, -5, NOW)).toBe(counted);
  });

  it('makes no window shorter for whoever is left', () => {
    const left = { ...counted, sources: [source(4_000, 'a'), source(3_000)] };
    expect(lastStoodOn(left, ['a'])).toBe(3_000);
    expect(lastStoodOn(noteGap(left, 500, NOW), ['a'])).toBeGreaterThanOrEqual(3_500);
  });

  it('reaches into no time to come, and what was said of one is said of now', () => {
    expect(lastStoodOn(noteGap(counted, 500_000, NOW), [])).toBe(NOW);
    const ahead = { countedSinceMs: 90_000, count: 2, sources: [source(95_000), source(9_000)], forgottenAtMs: 92_000 };
    const after = noteGap(ahead, 0, NOW);
    expect(lastStoodOn(after, [])).toBe(NOW);
    expect(after.sources.map(({ atMs }) => atMs)).toEqual([NOW, 9_000]);
  });
});
