import { describe, expect, it } from 'vitest';
import { isFresh, isStale, staleAfterMs } from './freshness.ts';

const received = 1_000_000;

describe('fresh', () => {
  it.each([
    [1_000, 30_000],
    [10_000, 30_000],
    [10_001, 30_003],
    [60_000, 180_000],
  ])('an interval of %d ms makes a window of %d ms', (interval, window) => {
    expect(staleAfterMs(interval)).toBe(window);
    expect(isFresh(received, interval, received + window)).toBe(true);
    expect(isFresh(received, interval, received + window + 1)).toBe(false);
  });

  it('is nothing that was never received, nor what cannot be read', () => {
    expect(isFresh(null, 10_000, 0)).toBe(false);
    expect(isFresh(Number.NaN, 10_000, received)).toBe(false);
    expect(isFresh(received, Number.NaN, received)).toBe(false);
    expect(isFresh(received, 10_000, received)).toBe(true);
  });
});

describe('stale', () => {
  it('is nobody until the hub has listened for a full window, and then who was silent', () => {
    expect(isStale(null, 10_000, received, received + 30_000)).toBe(false);
    expect(isStale(null, 10_000, received, received + 30_001)).toBe(true);
    expect(isStale(null, 60_000, received, received + 180_000)).toBe(false);
  });

  it('does not take silence before the start for silence', () => {
    expect(isStale(received - 900_000, 10_000, received, received + 30_000)).toBe(false);
    expect(isStale(received - 900_000, 10_000, received, received + 30_001)).toBe(true);
  });

  it('is not who beat since', () => {
    expect(isStale(received + 20_000, 10_000, received, received + 50_000)).toBe(false);
    expect(isStale(received + 20_000, 10_000, received, received + 50_001)).toBe(true);
  });

  it('and fresh never hold together, but neither may hold', () => {
    const started = received;
    expect([isFresh(null, 10_000, received + 1), isStale(null, 10_000, started, received + 1)]).toEqual([false, false]);
    for (let now = received; now < received + 100_000; now += 997) {
      expect(isFresh(received, 10_000, now) && isStale(received, 10_000, started, now)).toBe(false);
    }
  });
});
