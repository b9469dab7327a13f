import { describe, expect, test } from 'vitest';
import { concatBytes } from '../bytes.ts';
import { FakeClock } from './fake-clock.ts';
import { seededRandom } from './seeded-random.ts';

test('seededRandom: one seed, one stream, in whatever portions; another seed, another stream', () => {
  const [a, b, c] = [seededRandom(1), seededRandom(1), seededRandom(2)];
  const whole = a(100);
  expect(concatBytes(b(1), b(31), b(33), b(35))).toEqual(whole);
  expect(c(100)).not.toEqual(whole);
  expect(new Set(whole).size).toBeGreaterThan(50);
});

describe('FakeClock', () => {
  test('stands still, then passes on both clocks', async () => {
    const clock = new FakeClock(1_000);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    await clock.advance(500);
    expect([clock.now(), clock.monotonic()]).toEqual([1_500, 500]);
    clock.setWall(10);
    await clock.advance(5);
    expect([clock.now(), clock.monotonic()]).toEqual([15, 505]);
  });

  test('runs timers in order, each at its own time', async () => {
    const clock = new FakeClock(0);
    const seen: [string, number][] = [];
    const note = (name: string) => () => void seen.push([name, clock.now()]);
    clock.after(20, note('b'));
    clock.after(10, note('a'));
    clock.after(20, note('c'));
    const cancel = clock.after(15, note('cancelled'));
    clock.after(31, note('later'));
    cancel();
    await clock.advance(30);
    expect(seen).toEqual([
      ['a', 10],
      ['b', 20],
      ['c', 20],
    ]);
    expect(clock.pending).toBe(1);
  });

  test('carries a loop that sleeps again through the whole span', async () => {
    const clock = new FakeClock(0);
    const woken: number[] = [];
    const loop = async () => {
      for (let turn = 0; turn < 5; turn += 1) {
        await clock.sleep(10);
        woken.push(clock.now());
      }
    };
    const done = loop();
    await clock.advance(35);
    expect(woken).toEqual([10, 20, 30]);
    await clock.advance(100);
    await done;
    expect(woken).toEqual([10, 20, 30, 40, 50]);
  });

  test('ends a sleep when its signal is aborted, before or during it', async () => {
    const clock = new FakeClock(0);
    const controller = new AbortController();
    const asleep = clock.sleep(1_000, controller.signal);
    controller.abort();
    await asleep;
    await clock.sleep(1_000, controller.signal);
    expect([clock.now(), clock.pending]).toEqual([0, 0]);
  });
});
