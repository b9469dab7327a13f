import { describe, expect, it } from 'vitest';
import { type Generation, liveGenerations } from './generations.ts';

const now = 1_000;
const current: Generation = { version: 3, state: 'current', verifyUntilMs: null, leaked: false };

function previous(verifyUntilMs: number | null, version: number = 2): Generation {
  return { version, state: 'previous', verifyUntilMs, leaked: false };
}

function liveVersions(rows: readonly Generation[], at: number = now): readonly number[] {
  return liveGenerations(rows, at).map((generation) => generation.version);
}

describe('live generations', () => {
  it('are the current and the previous one in its window', () => {
    expect(liveVersions([previous(now + 1), current])).toEqual([3, 2]);
  });

  it.each([
    ['its end has come', now],
    ['its end has passed', now - 1],
    ['there is no end', null],
    ['the end is zero', 0],
    ['the end is negative', -1],
    ['the end is not a number', Number.NaN],
    ['the end is without end', Number.POSITIVE_INFINITY],
    ['the end is a text', `${now + 1}` as unknown as number],
    ['the field is missing', undefined as unknown as number],
  ])('a previous one has stopped when %s', (_what, until) => {
    expect(liveVersions([previous(until), current])).toEqual([3]);
  });

  it('a missing time is closed for any clock, also one before 1970', () => {
    expect(liveVersions([previous(0), current], -1)).toEqual([3]);
  });

  it('an unreadable clock opens no window, and never closes the current one', () => {
    expect(liveVersions([previous(now + 1), current], Number.NaN)).toEqual([3]);
  });

  it('the current one verifies whatever stands in its window', () => {
    for (const verifyUntilMs of [null, 0, 1, Number.NaN])
      expect(liveVersions([{ ...current, verifyUntilMs }])).toEqual([3]);
  });

  it('are two at most, and the newest (I14)', () => {
    expect(liveVersions([previous(now + 1, 1), previous(now + 1, 2), current])).toEqual([3, 2]);
    expect(liveVersions([current, previous(now + 1, 2), previous(now + 1, 1)])).toEqual([3, 2]);
    expect(liveVersions([previous(now + 1, 1), previous(now, 2), current])).toEqual([3]);
  });

  it('are none before there is a master, and two current ones are a broken store', () => {
    expect(liveVersions([])).toEqual([]);
    expect(() => liveVersions([current, { ...current, version: 4 }])).toThrow('at most one generation is current');
  });
});
