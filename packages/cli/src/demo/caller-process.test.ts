/** What callers counted, added up: an answer other than being let in is a refusal, and no answer is none. */
import { describe, expect, it } from 'vitest';
import { sumOf } from './caller-process.ts';

describe('the sum of what a caller counted', () => {
  it('counts every answer of every verifier', () => {
    expect(sumOf({ hub: { taken: 7 }, 'web-1': { taken: 5 } })).toEqual({ answered: 12, taken: 12, refused: [] });
  });

  it.each(['refused', '500', '404'])('takes %s for a refusal', (result) => {
    expect(sumOf({ hub: { taken: 7 }, 'web-1': { taken: 5, [result]: 2 } })).toEqual({
      answered: 14,
      taken: 12,
      refused: [`web-1: ${result} (2)`],
    });
  });

  it('leaves out what nobody answered', () => {
    expect(sumOf({ hub: { taken: 7, unanswered: 3 } })).toEqual({ answered: 7, taken: 7, refused: [] });
    expect(sumOf({})).toEqual({ answered: 0, taken: 0, refused: [] });
  });
});
