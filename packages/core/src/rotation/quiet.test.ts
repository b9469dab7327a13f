import { describe, expect, it } from 'vitest';
import { noteCount, wasQuiet } from './quiet.ts';

const before = { counter: 'one', count: 5, flatSinceMs: 100 };

describe('the count of a retiring version', () => {
  it.each([
    ['is flat while the counter and the count are the same', before, { counter: 'one', count: 5 }, 100],
    ['is not flat when it rose', before, { counter: 'one', count: 6 }, 900],
    ['is not flat when it fell', before, { counter: 'one', count: 4 }, 900],
    ['is not flat when a counter begins anew, also at the same count', before, { counter: 'two', count: 5 }, 900],
    ['is not flat when a counter begins at zero', before, { counter: 'two', count: 0 }, 900],
    ['begins with the first report', null, { counter: 'one', count: 0 }, 900],
    [
      'begins anew when it was flat since a time to come',
      { ...before, flatSinceMs: 901 },
      { counter: 'one', count: 5 },
      900,
    ],
  ] as const)('%s', (_what, record, report, flatSinceMs) => {
    expect(noteCount(record, report, 900)).toEqual({ ...report, flatSinceMs });
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
