import { describe, expect, it } from 'vitest';
import { type CountRecord, noteCount, wasQuiet } from './quiet.ts';

const before = { counter: 'one', count: 5, flatSinceMs: 100, reportedAtMs: 850, hits: 2 };
const same = { counter: 'one', count: 5 };
const WITHIN_MS = 50;

describe('the count of a retiring version', () => {
  it.each([
    ['is flat while the counter and the count are the same', before, { counter: 'one', count: 5 }, 100],
    ['is not flat when it rose', before, { counter: 'one', count: 6 }, 900],
    ['is not flat when it fell', before, { counter: 'one', count: 4 }, 900],
    ['is not flat when a counter begins anew, also at the same count', before, { counter: 'two', count: 5 }, 900],
    ['is not flat when a counter begins at zero', before, { counter: 'two', count: 0 }, 900],
    ['begins with the first report', null, { counter: 'one', count: 0 }, 900],
    ['begins anew when it was flat since a time to come', { ...before, flatSinceMs: 901 }, same, 900],
    ['begins anew when it was reported at a time to come', { ...before, reportedAtMs: 901 }, same, 900],
    ['begins anew when its last report cannot be read', { ...before, reportedAtMs: Number.NaN }, same, 900],
    ['goes on where it was after a gap, which is no part of it', { ...before, reportedAtMs: 300 }, same, 700],
    ['goes on over a report that came in time', { ...before, reportedAtMs: 850 }, same, 100],
    ['and not over one that came a moment later', { ...before, reportedAtMs: 849 }, same, 151],
    ['is not flat when it rose in a gap', { ...before, reportedAtMs: 300 }, { counter: 'one', count: 6 }, 900],
  ] as const)('%s', (_what, record, report, flatSinceMs) => {
    expect(noteCount(record, report, 900, WITHIN_MS)).toMatchObject({ ...report, flatSinceMs, reportedAtMs: 900 });
  });

  it('covers no window with the time in which nothing was reported, however often that was', () => {
    let record: CountRecord = { ...before, flatSinceMs: 0, reportedAtMs: 0 };
    for (let day = 1; day <= 9; day += 1) {
      record = noteCount(record, same, day * 1_000, WITHIN_MS);
      expect(wasQuiet(record.flatSinceMs, record.reportedAtMs, 60)).toBe(false);
    }
    // The control: two reports in time.
    for (const atMs of [9_040, 9_080]) record = noteCount(record, same, atMs, WITHIN_MS);
    expect(wasQuiet(record.flatSinceMs, record.reportedAtMs, 60)).toBe(true);
  });

  it.each([
    ['none at the first report: what was counted may be of before', null, { counter: 'one', count: 5 }, 0],
    ['no more while it is flat', before, same, 2],
    ['what it rose by', before, { counter: 'one', count: 9 }, 6],
    ['no less when a counter was put back', before, { counter: 'one', count: 1 }, 2],
    ['all of a counter that began meanwhile', before, { counter: 'two', count: 4 }, 6],
    ['as many as can be counted', before, { counter: 'two', count: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER],
  ] as const)('has so many hits: %s', (_what, record, report, hits) => {
    expect(noteCount(record, report, 900, WITHIN_MS).hits).toBe(hits);
  });

  it.each([
    [100, 149, 50, false],
    [100, 150, 50, true],
    [100, 100, 0, true],
    [100, 99, 0, false],
    [100, 99, -50, false],
    [Number.NaN, 900, 50, false],
    [100, 900, Number.NaN, false],
    [100, 900, Number.POSITIVE_INFINITY, false],
    [100, Number.NaN, 50, false],
    [Number.NEGATIVE_INFINITY, 900, 50, false],
  ])('flat since %d, reported at %d, for a window of %d: %s', (flatSinceMs, reportedAtMs, windowMs, quiet) => {
    expect(wasQuiet(flatSinceMs, reportedAtMs, windowMs)).toBe(quiet);
  });
});
