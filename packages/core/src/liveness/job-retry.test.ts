import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { retryJob } from './job-retry.ts';

describe('a job that failed', () => {
  // biome-ignore format: a table
  it.each([
    [1, 500, true],
    [2, 1_000, true],
    [3, 2_000, true],
    [4, 4_000, true],
    [5, 5_000, false],
    [6, 5_000, false],
    [11, 5_000, false],
    [12, 5_000, true],
    [13, 5_000, false],
    [24, 5_000, true],
  ])('%d times in a row waits for %d ms, and is logged: %s', (failures, waitMs, isLogged) => {
    expect(retryJob(failures)).toEqual({ waitMs, isLogged });
  });

  it('waits never less than before, never longer than the bound, whatever the count', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (failures) => {
        const { waitMs } = retryJob(failures);
        expect(waitMs).toBeGreaterThanOrEqual(retryJob(failures - 1).waitMs);
        expect(waitMs).toBeLessThanOrEqual(limits.jobRetryMaxMs);
      }),
    );
  });

  it.each([0, -1, Number.NaN, 1.5])('waits for the least where the count cannot be: %d', (failures) => {
    expect(retryJob(failures)).toEqual({ waitMs: limits.jobRetryFirstMs, isLogged: true });
  });

  it('is logged about once a minute however long that lasts, and tries again well before it counts as standing still', () => {
    const failures = Array.from({ length: 12 * 60 }, (_, index) => index + 100);
    const spanMs = failures.reduce((sum, count) => sum + retryJob(count).waitMs, 0);
    expect(failures.filter((count) => retryJob(count).isLogged).length).toBe(spanMs / 60_000);
    expect(limits.jobRetryMaxMs).toBeLessThan(limits.jobSilentMs / 4);
    expect(limits.jobRetryMaxMs).toBeLessThan(limits.cachedYesMs / 4);
  });
});
