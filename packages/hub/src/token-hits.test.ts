import { limits } from '@rollcall/core/limits';
import { expect, it } from 'vitest';
import { createTestHub, DAY_MS, HOUR_MS, operator, START_MS } from './hub.fixture.ts';
import { acceptTime } from './operations/accept-time.ts';

it('the one cron job stays among the sources, however many names somebody else takes from one network', async () => {
  const { tokenHits } = await createTestHub();
  const note = (address: string, userAgent: string, atMs: number) =>
    tokenHits.note('fleet', 1, 'retiring', { address, userAgent, route: '/v1/whoami', host: null, atMs });
  note('192.0.2.7', 'cron', 1);
  for (let at = 1; at <= limits.oldHitSources + 20; at += 1) note(`2001:db8::${at}`, `curl/${at}`, 1 + at);
  const sources = tokenHits.sources('fleet', 1);
  expect(sources).toContainEqual(expect.objectContaining({ address: '192.0.2.7', userAgent: 'cron' }));
  // The control: there is no more room than before, and the newest stands first.
  expect(sources).toHaveLength(limits.oldHitSources);
  expect(sources[0]?.userAgent).toBe(`curl/${limits.oldHitSources + 20}`);
  // Many networks with one name each: the one that was silent for longest goes, as ever.
  for (let at = 0; at < limits.oldHitSources; at += 1) note(`10.0.0.${at}`, 'many', 1_000 + at);
  expect(tokenHits.sources('fleet', 1)).not.toContainEqual(expect.objectContaining({ userAgent: 'cron' }));
});

it('no window is covered by the time for which the machine was suspended, or the process stopped', async () => {
  const hub = await createTestHub();
  const quietForMs = () => hub.clock.now() - hub.tokenHits.count('fleet', 1, hub.clock.now()).flatSinceMs;
  expect(quietForMs()).toBe(0);
  hub.attendance.tick();
  for (let round = 0; round < 10; round += 1) await hub.wall.advance(limits.freshMinMs).then(hub.attendance.tick);
  expect(quietForMs()).toBe(10 * limits.freshMinMs);
  await hub.wall.advance(2 * DAY_MS);
  expect(quietForMs()).toBe(10 * limits.freshMinMs);
});

it('no window is covered by a time that the clock was set forward by', async () => {
  const hub = await createTestHub();
  const quietForMs = () => hub.clock.now() - hub.tokenHits.count('fleet', 1, hub.clock.now()).flatSinceMs;
  expect(quietForMs()).toBe(0);
  // However seldom it is looked at.
  await hub.wall.advance(2 * DAY_MS);
  expect(quietForMs()).toBe(2 * DAY_MS);
  hub.wall.setWall(START_MS + 9 * DAY_MS);
  await acceptTime(hub, operator);
  expect(quietForMs()).toBe(2 * DAY_MS);
  await hub.wall.advance(HOUR_MS);
  expect(quietForMs()).toBe(2 * DAY_MS + HOUR_MS);
  // A clock that is set back: from now on, and not from a time to come.
  hub.wall.setWall(START_MS);
  await acceptTime(hub, operator);
  expect(quietForMs()).toBe(0);
});
