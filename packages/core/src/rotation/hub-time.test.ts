import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRollcallError } from '../errors.ts';
import { limits } from '../limits.ts';
import { detailsOf } from '../refusal.fixture.ts';
import { liveGenerations } from './generations.ts';
import { acceptHubTime, assertTimeTrusted, type HubTime, readHubTime, startHubTime } from './hub-time.ts';
import { generations } from './roll.fixture.ts';

const hour = 3_600_000;
const wall = 1_000 * hour;

function started(floorMs: number | null, wallMs: number = wall): HubTime {
  return startHubTime(floorMs === null ? null : { floorMs, jumped: false }, { wallMs, monotonicMs: 0 });
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (isRollcallError(error)) return error.code;
    throw error;
  }
  return 'none';
}

describe('at start', () => {
  it('is the later of the stored floor and the wall clock', () => {
    expect(started(null).nowMs).toBe(wall);
    expect(started(wall - hour).nowMs).toBe(wall);
    expect(started(wall + hour).nowMs).toBe(wall + hour);
  });

  it('is never read off an unreadable floor, and off the floor alone with an unreadable wall clock', () => {
    expect(codeOf(() => started(Number.NaN))).toBe('unavailable');
    expect(detailsOf(() => started(Number.NaN))).toEqual({ because: 'hub_time_unreadable' });
    expect(started(wall, Number.NaN).nowMs).toBe(wall);
  });

  it('keeps the flag of a jump that nobody has accepted', () => {
    const again = startHubTime({ floorMs: wall, jumped: true }, { wallMs: wall, monotonicMs: 0 });
    expect(codeOf(() => assertTimeTrusted(again))).toBe('hub_time_jumped');
    expect(codeOf(() => assertTimeTrusted(started(wall)))).toBe('none');
  });
});

describe('while running', () => {
  it('a wall clock set back neither reopens a window nor extends one', () => {
    const rows = generations(wall + hour);
    const before = readHubTime(started(null), { wallMs: wall + hour, monotonicMs: hour });
    expect(liveGenerations(rows, before.nowMs)).toHaveLength(1);
    const setBack = readHubTime(before, { wallMs: wall - hour, monotonicMs: hour + 1 });
    expect(liveGenerations(rows, setBack.nowMs)).toHaveLength(1);
    // The control: by the wall clock alone the retired generation would verify again.
    expect(liveGenerations(rows, wall - hour)).toHaveLength(2);
    // Set back inside the window, it still closes in time.
    const early = readHubTime(started(null), { wallMs: wall - hour, monotonicMs: hour });
    expect(liveGenerations(rows, early.nowMs)).toHaveLength(1);
  });

  it('a window that ended while the hub was down is closed at the first reading', () => {
    expect(liveGenerations(generations(wall), started(wall - hour).nowMs)).toHaveLength(1);
    expect(liveGenerations(generations(wall + 1), started(wall - hour).nowMs)).toHaveLength(2);
  });

  it('a jump forward is flagged beyond elapsed time plus the bound, closes windows, and sticks', () => {
    const state = started(null);
    const edge = readHubTime(state, { wallMs: wall + hour + limits.clockJumpMs, monotonicMs: hour });
    expect(edge.jumped).toBe(false);
    const jumped = readHubTime(state, { wallMs: wall + hour + limits.clockJumpMs + 1, monotonicMs: hour });
    expect(jumped.jumped).toBe(true);
    expect(liveGenerations(generations(wall + hour + limits.clockJumpMs), jumped.nowMs)).toHaveLength(1);
    const later = readHubTime(jumped, { wallMs: jumped.nowMs + 1, monotonicMs: hour + 1 });
    expect(codeOf(() => assertTimeTrusted(later))).toBe('hub_time_jumped');
    const right = readHubTime(later, { wallMs: wall + hour + 2, monotonicMs: hour + 2 });
    expect([right.jumped, right.nowMs >= later.nowMs]).toEqual([true, true]);
  });

  it('a monotonic clock that goes back counts as one that stands still', () => {
    const state = startHubTime(null, { wallMs: wall, monotonicMs: 50 });
    expect(readHubTime(state, { wallMs: wall, monotonicMs: 20 })).toEqual({
      nowMs: wall,
      floorMs: wall,
      jumped: false,
      monotonicMs: 20,
    });
  });

  it('a suspended machine has not jumped when its monotonic clock counted the time', () => {
    expect(readHubTime(started(null), { wallMs: wall + 9 * hour, monotonicMs: 9 * hour }).jumped).toBe(false);
    expect(readHubTime(started(null), { wallMs: wall + 9 * hour, monotonicMs: 0 }).jumped).toBe(true);
  });

  it('goes on by the monotonic clock when the wall clock cannot be read', () => {
    const next = readHubTime(started(null), { wallMs: Number.NaN, monotonicMs: 7 });
    expect(next).toMatchObject({ nowMs: wall + 7, jumped: false });
  });

  it('never runs backwards, nor slower than elapsed time, whatever the clocks say', () => {
    const reading = fc.record({
      wallMs: fc.oneof(fc.integer({ min: -hour, max: 3_000 * hour }), fc.constant(Number.NaN)),
      elapsedMs: fc.integer({ min: 0, max: hour }),
    });
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 20 }), (readings) => {
        let state = started(null);
        for (const { wallMs, elapsedMs } of readings) {
          const next = readHubTime(state, { wallMs, monotonicMs: state.monotonicMs + elapsedMs });
          expect(next.nowMs).toBeGreaterThanOrEqual(state.nowMs + elapsedMs);
          expect(next.floorMs).toBe(next.nowMs);
          expect(next.jumped || !state.jumped).toBe(true);
          state = next;
        }
      }),
    );
  });
});

it('a person may accept the wall clock, and lower the floor with it', () => {
  const jumped = readHubTime(started(null), { wallMs: 9 * wall, monotonicMs: 1 });
  const accepted = acceptHubTime({ wallMs: wall + 2, monotonicMs: 2 });
  expect([jumped.jumped, accepted.jumped, accepted.floorMs]).toEqual([true, false, wall + 2]);
  expect(codeOf(() => acceptHubTime({ wallMs: Number.NaN, monotonicMs: 2 }))).toBe('malformed_time');
});
