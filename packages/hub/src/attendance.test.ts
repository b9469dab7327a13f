import { limits } from '@rollcall/core/limits';
import { beforeEach, expect, it } from 'vitest';
import { createAttendance } from './attendance.ts';
import { createTestHub, DAY_MS, HOUR_MS, MINUTE_MS, START_MS, type TestHub } from './hub.fixture.ts';

let hub: TestHub;
beforeEach(async () => {
  hub = await createTestHub();
});

it('misses nothing while it is looked at as seldom as may be, and all of a longer silence once it ticks', async () => {
  const attendance = createAttendance(hub.clock);
  // Before anything ticks, as in a tool that runs no jobs, silence says nothing.
  await hub.wall.advance(HOUR_MS);
  expect(attendance.missedMs()).toBe(0);
  attendance.tick();
  for (let round = 0; round < 100; round += 1) {
    await hub.wall.advance(limits.freshMinMs);
    attendance.tick();
  }
  expect(attendance.missedMs()).toBe(0);
  await hub.wall.advance(limits.freshMinMs + 1);
  expect([attendance.missedMs(), attendance.missedMs()]).toEqual([limits.freshMinMs + 1, limits.freshMinMs + 1]);
  // Whoever looks first says it to all.
  await hub.wall.advance(DAY_MS);
  attendance.tick();
  expect(attendance.missedMs()).toBe(DAY_MS + limits.freshMinMs + 1);
});

it('misses what the clock was set forward by, and no step that a time server makes', () => {
  const attendance = createAttendance(hub.clock);
  hub.wall.setWall(START_MS + limits.freshMinMs);
  expect(attendance.missedMs()).toBe(0);
  hub.wall.setWall(START_MS + 10 * MINUTE_MS);
  expect(attendance.missedMs()).toBe(10 * MINUTE_MS - limits.freshMinMs);
});

it('misses no less than went by where the clock goes back meanwhile', async () => {
  const attendance = createAttendance(hub.clock);
  attendance.tick();
  await hub.wall.advance(HOUR_MS);
  hub.wall.setWall(START_MS);
  expect(attendance.missedMs()).toBe(HOUR_MS);
});
