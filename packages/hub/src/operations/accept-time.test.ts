import { limits } from '@rollcall/core/limits';
import { beforeEach, expect, it } from 'vitest';
import { enrolNew, thiefBearer } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, HOUR_MS, operator, START_MS, type TestHub } from '../hub.fixture.ts';
import { acceptTime } from './accept-time.ts';
import { addHost } from './add-host.ts';
import { startRotation } from './rotation/walk.ts';

const planned = { secret: 'master', reason: 'planned', leave: [], narrowByMs: null } as const;

let hub: TestHub;
beforeEach(async () => {
  hub = await createTestHub();
  await enrolNew(hub, 'agent-7');
});

const verifies = (version: number) =>
  codeOf(() => hub.generations.verify('agent-7', 1, thiefBearer(hub, 'agent-7', 1, version)));

it('lets a hub open and issue again after its clock jumped, and not before', async () => {
  hub.wall.setWall(START_MS + 3_650 * DAY_MS);
  expect(await codeOf(startRotation(hub, planned, operator))).toBe('hub_time_jumped');
  hub.wall.setWall(START_MS + HOUR_MS);
  expect(await codeOf(startRotation(hub, planned, operator))).toBe('hub_time_jumped');
  expect(await acceptTime(hub, operator)).toMatchObject({ generation: null, after: '2026-03-01T13:00:00.000Z' });
  expect(await codeOf(startRotation(hub, planned, operator))).toBe('done');
  expect(await auditOf(hub)).toContain('hub.time_accepted hub done');
});

it('holds over a restart', async () => {
  hub.wall.setWall(START_MS + 3_650 * DAY_MS);
  hub.clock.read();
  hub.wall.setWall(START_MS + HOUR_MS);
  await acceptTime(hub, operator);
  const again = await hub.restart();
  expect(again.clock.read()).toMatchObject({ jumped: false });
  expect(again.clock.now()).toBeLessThan(START_MS + DAY_MS);
});

it('keeps a window open that both times leave open, and never opens one that the wrong time has closed', async () => {
  await startRotation(hub, planned, operator);
  hub.wall.setWall(START_MS + limits.verifyWindowMs - HOUR_MS);
  hub.clock.read();
  hub.wall.setWall(START_MS + HOUR_MS);
  await acceptTime(hub, operator);
  expect([await verifies(1), await verifies(2)]).toEqual(['done', 'done']);

  hub.wall.setWall(START_MS + 3_650 * DAY_MS);
  expect([await verifies(1), await verifies(2)]).toEqual(['unauthenticated', 'done']);
  hub.wall.setWall(START_MS + 2 * HOUR_MS);
  expect(await acceptTime(hub, operator)).toMatchObject({ generation: 1 });
  expect([await verifies(1), await verifies(2)]).toEqual(['unauthenticated', 'done']);
});

it('ends every token that was given out, and names whose', async () => {
  const { token } = await addHost(hub, { host: 'agent-8' }, operator);
  expect(token).toBeDefined();
  expect((await acceptTime(hub, operator)).hosts).toEqual(['agent-8']);
  expect((await acceptTime(hub, operator)).hosts).toEqual([]);
});

it('opens no window that ends while it is being accepted', async () => {
  await startRotation(hub, planned, operator);
  const endsMs = START_MS + limits.verifyWindowMs;
  hub.wall.setWall(endsMs - 1_000);
  hub.clock.read();
  hub.wall.setWall(START_MS + HOUR_MS);
  const { save } = hub.clock;
  Object.assign(hub.clock, {
    save: async (...args: Parameters<typeof save>) => {
      await hub.wall.advance(2_000);
      return save(...args);
    },
  });
  await acceptTime(hub, operator);
  expect(hub.clock.now()).toBeLessThan(endsMs - DAY_MS);
  expect([await verifies(1), await verifies(2)]).toEqual(['unauthenticated', 'done']);
});

it('lets memory open nothing that it has closed, whether or not the store can be read again', async () => {
  await startRotation(hub, planned, operator);
  hub.wall.setWall(START_MS + limits.verifyWindowMs + HOUR_MS);
  hub.clock.read();
  // As after a poll: nothing was verified since it read the store.
  await hub.generations.reload();
  hub.wall.setWall(START_MS + HOUR_MS);
  const { catchUp } = hub.generations;
  Object.assign(hub.generations, { catchUp: () => Promise.reject(new Error('gone')) });
  await expect(acceptTime(hub, operator)).rejects.toThrow();
  expect(await verifies(1)).toBe('unauthenticated');
  Object.assign(hub.generations, { catchUp });
  await acceptTime(hub, operator);
  expect(hub.clock.now()).toBeLessThan(START_MS + DAY_MS);
  expect([await verifies(1), await verifies(2)]).toEqual(['unauthenticated', 'done']);
});
