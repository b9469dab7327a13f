import { describe, expect, it } from 'vitest';
import { createBootTime, createSystemClock } from './clock.ts';

function createMachine() {
  const at = { running: 5_000, wall: 1_000_000, boot: 90_000, asked: 0 };
  const monotonic = createBootTime({
    running: () => at.running,
    wall: () => at.wall,
    boot: () => {
      at.asked += 1;
      return at.boot;
    },
  });
  const pass = (ms: number) => {
    at.running += ms;
    at.wall += ms;
    at.boot += ms;
  };
  return { at, monotonic, pass };
}

describe('elapsed time', () => {
  it('goes on with the process, and asks the system once a second', () => {
    const { at, monotonic, pass } = createMachine();
    const before = monotonic();
    const asked = at.asked;
    for (let beat = 0; beat < 10_000; beat += 1) {
      pass(1);
      expect(monotonic()).toBe(before + beat + 1);
    }
    expect(at.asked - asked).toBe(10);
  });

  it('counts a suspension at the first look after it, since the wall clock has moved', () => {
    const { at, monotonic, pass } = createMachine();
    const before = monotonic();
    at.wall += 360_000;
    at.boot += 360_000;
    pass(3);
    expect(monotonic()).toBe(before + 360_003);
    pass(5);
    expect(monotonic()).toBe(before + 360_008);
  });

  it('counts one within a second where the wall clock did not move with it', () => {
    const { at, monotonic, pass } = createMachine();
    const before = monotonic();
    at.boot += 360_000;
    pass(999);
    expect(monotonic()).toBe(before + 999);
    pass(1);
    expect(monotonic()).toBe(before + 361_000);
  });

  it('does not move with a wall clock that was set, in either direction', () => {
    const { at, monotonic, pass } = createMachine();
    const before = monotonic();
    for (const jump of [7_200_000, -7_200_000, 400]) {
      at.wall += jump;
      pass(1);
    }
    expect(monotonic()).toBe(before + 3);
  });

  it('of this machine only grows', () => {
    const { monotonic } = createSystemClock();
    let last = monotonic();
    for (let look = 0; look < 10_000; look += 1) {
      const now = monotonic();
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
  });
});
