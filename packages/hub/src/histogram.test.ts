import { describe, expect, it } from 'vitest';
import { createHistogram } from './histogram.ts';

const counts = (values: readonly number[]) => {
  const histogram = createHistogram([1, 5]);
  for (const value of values) histogram.observe(value);
  const { buckets, sum, count } = histogram.read();
  return { buckets: buckets.map(({ le, count: n }) => [le, n]), sum, count };
};
const inf = Number.POSITIVE_INFINITY;

describe('a histogram', () => {
  it('counts each value in every bucket that it fits, the bound with it', () => {
    const buckets = [
      [1, 2],
      [5, 4],
      [inf, 5],
    ];
    expect(counts([0, 1, 1.1, 5, 6])).toEqual({ buckets, sum: 13.1, count: 5 });
  });

  it('counts nothing that is no number, and of nothing says zero', () => {
    const buckets = [
      [1, 0],
      [5, 0],
      [inf, 0],
    ];
    expect(counts([])).toEqual({ buckets, sum: 0, count: 0 });
    expect(counts([Number.NaN, inf, -inf])).toEqual({ buckets, sum: 0, count: 0 });
  });
});
