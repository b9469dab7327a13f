import { FakeClock } from '@rollcall/core/testing';
import { describe, expect, it } from 'vitest';
import { enrolNew, thiefBearer } from './host.fixture.ts';
import {
  codeOf,
  createTestDatabase,
  createTestHub,
  createTestVault,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  operator,
  START_MS,
} from './hub.fixture.ts';
import { createHubClock, encodeHubTime, NO_FLOOR } from './hub-clock.ts';
import { startRotation, stepMaster } from './operations/rotation/walk.ts';
import { writeMeta } from './store/meta.ts';
import type { Db } from './store/schema.ts';

const vault = createTestVault('kek');

/** The store of a hub that was never started. */
async function createStore(): Promise<Db> {
  const { db } = await createTestDatabase();
  await writeMeta(db, vault, 'clock', encodeHubTime(NO_FLOOR));
  return db;
}

describe('the hub’s clock', () => {
  it('goes on with time when the wall clock is set back', async () => {
    const db = await createStore();
    const wall = new FakeClock(START_MS);
    const clock = await createHubClock(db, vault, wall);
    await wall.advance(1_000);
    expect(clock.now()).toBe(START_MS + 1_000);
    wall.setWall(START_MS - 2 * HOUR_MS);
    expect(clock.now()).toBe(START_MS + 1_000);
    await wall.advance(500);
    expect(clock.now()).toBe(START_MS + 1_500);
    expect(clock.read().jumped).toBe(false);
  });

  it('begins again no earlier than it was stored, and at the wall clock where that is later', async () => {
    const db = await createStore();
    const clock = await createHubClock(db, vault, new FakeClock(START_MS));
    await clock.save(db);
    expect((await createHubClock(db, vault, new FakeClock(START_MS - DAY_MS))).now()).toBe(START_MS);
    expect((await createHubClock(db, vault, new FakeClock(START_MS + DAY_MS))).now()).toBe(START_MS + DAY_MS);
  });

  it('says that the wall clock jumped, and goes on saying it after a restart', async () => {
    const db = await createStore();
    const wall = new FakeClock(START_MS);
    const clock = await createHubClock(db, vault, wall);
    wall.setWall(START_MS + 4 * MINUTE_MS);
    expect(clock.read().jumped).toBe(false);
    wall.setWall(START_MS + DAY_MS);
    expect(clock.read().jumped).toBe(true);
    await clock.save(db);
    expect((await createHubClock(db, vault, new FakeClock(START_MS))).read()).toMatchObject({
      jumped: true,
      nowMs: START_MS + DAY_MS,
    });
  });

  it.each([
    '',
    'null',
    '{}',
    '{"floorMs":"1","jumped":false}',
    '{"floorMs":1}',
    '{"floorMs":1,"jumped":false,"floorMs":2}',
  ])('a stored floor of %j is not a first start', async (text) => {
    const db = await createStore();
    expect(await codeOf(createHubClock(db, vault, new FakeClock(START_MS)))).toBe('done');
    await writeMeta(db, vault, 'clock', text);
    expect(await codeOf(createHubClock(db, vault, new FakeClock(START_MS)))).not.toBe('done');
  });
});

describe('a window that closed', () => {
  it('while the hub was down is closed at its start, for the very first beat', async () => {
    const hub = await createTestHub();
    const host = await enrolNew(hub, 'agent-7');
    const old = thiefBearer(hub, 'agent-7', 1, 1);
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    // The control: one moment before the end, after a restart just like it, it is taken.
    const before = await hub.restart(new FakeClock(START_MS + 7 * DAY_MS - 1));
    expect(await codeOf(host.beat(before, { bearer: old }))).toBe('done');
    const after = await before.restart(new FakeClock(START_MS + 7 * DAY_MS));
    expect(await codeOf(host.beat(after, { bearer: old }))).toBe('unauthenticated');
    expect(await codeOf(host.beat(after, { bearer: thiefBearer(after, 'agent-7', 1, 2) }))).toBe('done');
  });

  it('stays closed when the wall clock is set back, and after a restart at the earlier time', async () => {
    const hub = await createTestHub();
    const host = await enrolNew(hub, 'agent-7');
    const old = thiefBearer(hub, 'agent-7', 1, 1);
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    await hub.wall.advance(7 * DAY_MS - 1);
    expect(await codeOf(host.beat(hub, { bearer: old }))).toBe('done');
    await hub.wall.advance(1);
    expect(await codeOf(host.beat(hub, { bearer: old }))).toBe('unauthenticated');
    await stepMaster(hub);
    hub.wall.setWall(START_MS + 7 * DAY_MS - 2 * HOUR_MS);
    expect(await codeOf(host.beat(hub, { bearer: old }))).toBe('unauthenticated');
    const again = await hub.restart(new FakeClock(START_MS + 7 * DAY_MS - 2 * HOUR_MS));
    expect(await codeOf(host.beat(again, { bearer: old }))).toBe('unauthenticated');
    expect(await codeOf(host.beat(again, { bearer: thiefBearer(again, 'agent-7', 1, 2) }))).toBe('done');
  });
});
