/** For how long nobody stood on a rung: over stops of the hub, and over a clock that is not the one of before (design 5, I7). */
import { lastStoodOn } from '@rollcall/core/rungs';
import { beforeEach, describe, expect, it } from 'vitest';
import { enrolNew } from './host.fixture.ts';
import { codeOf, createTestHub, DAY_MS, HOUR_MS, MINUTE_MS, operator, START_MS, type TestHub } from './hub.fixture.ts';
import { acceptTime } from './operations/accept-time.ts';
import { advanceRotation, startRotation } from './operations/rotation/walk.ts';
import { writeMeta } from './store/meta.ts';

const RUNG = 'rung:fleet-token';
let hub: TestHub;
beforeEach(async () => {
  hub = await createTestHub();
  await enrolNew(hub, 'a');
  await startRotation(hub, { secret: RUNG, reason: 'planned', leave: [], narrowByMs: null }, operator);
  await advance();
  await advance();
  expect(quietForMs()).toBe(0);
});

const advance = () => codeOf(advanceRotation(hub, RUNG, undefined, operator));
const quietForMs = () => hub.clock.now() - lastStoodOn(hub.rungSightings.of('fleet-token'), []);

describe('no quiet window of a rung is covered', () => {
  it('by the time for which the hub was stopped, and it goes on where it was', async () => {
    await hub.wall.advance(HOUR_MS);
    await hub.rungSightings.save();
    await hub.wall.advance(2 * DAY_MS);
    hub = await hub.restart();
    expect([quietForMs(), await advance()]).toEqual([HOUR_MS, 'gate_closed']);
    await hub.wall.advance(DAY_MS - HOUR_MS);
    expect(await advance()).toBe('done');
  });

  it('by the time for which its machine was suspended, or the process stopped', async () => {
    hub.attendance.tick();
    for (let minute = 0; minute < 60; minute += 1) {
      for (const _half of [0, 1]) await hub.wall.advance(MINUTE_MS / 2).then(hub.attendance.tick);
    }
    expect(quietForMs()).toBe(HOUR_MS);
    await hub.wall.advance(2 * DAY_MS);
    expect([quietForMs(), await advance()]).toEqual([HOUR_MS, 'gate_closed']);
  });

  it('by one that its clock was set forward by', async () => {
    await hub.wall.advance(HOUR_MS);
    hub.wall.setWall(START_MS + 2 * DAY_MS);
    await acceptTime(hub, operator);
    expect([quietForMs(), await advance()]).toEqual([HOUR_MS, 'gate_closed']);
    await hub.wall.advance(DAY_MS - HOUR_MS);
    expect(await advance()).toBe('done');
  });
});

describe('a quiet window of a rung goes on', () => {
  it('over a restart that takes a moment, as if there had been none', async () => {
    await hub.wall.advance(HOUR_MS);
    await hub.rungSightings.save();
    await hub.wall.advance(20_000);
    hub = await hub.restart();
    expect(quietForMs()).toBe(HOUR_MS + 20_000);
  });

  it('from now on where the clock was set back, and not from a time to come', async () => {
    hub.wall.setWall(START_MS + 400 * DAY_MS);
    await acceptTime(hub, operator);
    hub.rungSightings.note('fleet-token', {
      address: '192.0.2.9',
      userAgent: '',
      route: '/v1/whoami',
      host: null,
      atMs: hub.clock.now(),
    });
    hub.wall.setWall(START_MS + HOUR_MS);
    await acceptTime(hub, operator);
    expect(quietForMs()).toBe(0);
    await hub.wall.advance(DAY_MS);
    expect(await advance()).toBe('done');
  });

  it('from now on of a rung that the version before this one did not know, and as it was of one that it did', async () => {
    const kept = { countedSinceMs: START_MS - DAY_MS, count: 0, sources: [], forgottenAtMs: null };
    for (const [known, quietMs] of [
      [{ 'host-token': kept }, 0],
      [{ 'fleet-token': kept }, DAY_MS],
    ] as const) {
      const text = JSON.stringify({ atMs: hub.clock.now(), rungs: known });
      await hub.db.transaction().execute((tx) => writeMeta(tx, hub.vault, 'rung_sightings', text));
      hub = await hub.restart();
      expect(quietForMs()).toBe(quietMs);
    }
  });

  it('from now on where a version before this one has not said when it stopped', async () => {
    const kept = { countedSinceMs: START_MS - DAY_MS, count: 0, sources: [], forgottenAtMs: null };
    const text = JSON.stringify({ 'fleet-token': kept, 'host-token': kept, derived: kept });
    await hub.db.transaction().execute((tx) => writeMeta(tx, hub.vault, 'rung_sightings', text));
    hub = await hub.restart();
    expect(quietForMs()).toBe(0);
  });
});
