import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { backoffMs, firstBeatMs, nextBeatMs } from './pacing.ts';

const lowest = (n: number) => new Uint8Array(n);
const highest = (n: number) => new Uint8Array(n).fill(0xff);
const anyRandom = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => () => bytes);

describe('the next beat', () => {
  it('is the interval, a tenth more or less', () => {
    expect(nextBeatMs(10_000, lowest)).toBe(9_000);
    expect(nextBeatMs(10_000, highest)).toBe(11_000);
    expect(nextBeatMs(10_000, () => Uint8Array.of(0x80, 0, 0, 0))).toBe(10_000);
  });

  it('stays within the bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), anyRandom, (interval, random) => {
        const next = nextBeatMs(interval, random);
        expect(next).toBeGreaterThanOrEqual(limits.beatMinMs);
        expect(next).toBeLessThanOrEqual(limits.beatMaxMs);
        expect(Number.isInteger(next)).toBe(true);
      }),
    );
  });

  it('after a start is anywhere within the interval', () => {
    expect([firstBeatMs(10_000, lowest), firstBeatMs(10_000, highest)]).toEqual([0, 9_999]);
    expect(firstBeatMs(10 * limits.beatMaxMs, highest)).toBe(limits.beatMaxMs - 1);
  });

  it('is drawn with all four bytes', () => {
    const drawn = (value: number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return firstBeatMs(10_000, () => bytes);
    };
    const least = Math.ceil((3_333 * 2 ** 32) / 10_000);
    expect([drawn(least - 1), drawn(least)]).toEqual([3_332, 3_333]);
  });
});

describe('back-off', () => {
  it.each([
    [0, 1_000, 2_000],
    [1, 2_000, 4_000],
    [2, 4_000, 8_000],
    [5, 30_000, 60_000],
    [6, 30_000, 60_000],
    [1_000_000, 30_000, 60_000],
  ])('after failure %d is between %d and %d ms', (attempt, least, most) => {
    expect([backoffMs(attempt, lowest), backoffMs(attempt, highest)]).toEqual([least, most]);
  });

  it('never makes more than one attempt per second, whatever is counted', () => {
    const attempt = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY));
    fc.assert(
      fc.property(attempt, anyRandom, (attempt, random) => {
        const wait = backoffMs(attempt, random);
        expect(wait).toBeGreaterThanOrEqual(1_000);
        expect(wait).toBeLessThanOrEqual(limits.backoffMaxMs);
      }),
    );
  });

  it('spreads a fleet that failed at the same moment, from the first failure on', () => {
    const waits = new Set<number>();
    for (let n = 0; n < 256; n += 1) waits.add(backoffMs(0, () => Uint8Array.of(n, 0, 0, 0)));
    expect(waits.size).toBe(256);
  });
});
