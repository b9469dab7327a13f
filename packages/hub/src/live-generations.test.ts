import { FakeClock } from '@rollcall/core/testing';
import { describe, expect, it } from 'vitest';
import { enrolNew, thiefBearer } from './host.fixture.ts';
import { codeOf, createTestHub, DAY_MS, operator, START_MS, type TestHub } from './hub.fixture.ts';
import { createHubClock } from './hub-clock.ts';
import { createLiveGenerations } from './live-generations.ts';
import { retireRotation } from './operations/rotation/retire.ts';
import { startRotation } from './operations/rotation/walk.ts';

async function createRotating(): Promise<TestHub> {
  const hub = await createTestHub();
  await enrolNew(hub, 'agent-7');
  await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
  return hub;
}

const damage = `update generations set created_at = created_at + 1 where version = 1`;
const mend = `update generations set created_at = created_at - 1 where version = 1`;

describe('the generations that verify', () => {
  it('are none before there is a master, and one after', async () => {
    const hub = await createTestHub({ master: false });
    expect(await codeOf(() => hub.generations.verify('agent-7', 1, 'rcb_'))).toBe('unauthenticated');
    const withMaster = await createTestHub();
    const bearer = thiefBearer(withMaster, 'agent-7', 1, 1);
    expect(withMaster.generations.verify('agent-7', 1, bearer)).toEqual({ version: 1 });
    expect(await codeOf(() => withMaster.generations.verify('agent-8', 1, bearer))).toBe('unauthenticated');
    expect(await codeOf(() => withMaster.generations.verify('agent-7', 2, bearer))).toBe('unauthenticated');
  });

  it('are two in the window, each told by its version, and one when the clock has passed it, without a look at the store', async () => {
    const hub = await createRotating();
    const [old, current] = [thiefBearer(hub, 'agent-7', 1, 1), thiefBearer(hub, 'agent-7', 1, 2)];
    expect(hub.generations.verify('agent-7', 1, old)).toEqual({ version: 1 });
    expect(hub.generations.verify('agent-7', 1, current)).toEqual({ version: 2 });
    await hub.close();
    await hub.wall.advance(7 * DAY_MS - 1);
    expect(hub.generations.verify('agent-7', 1, old)).toEqual({ version: 1 });
    await hub.wall.advance(1);
    expect(await codeOf(() => hub.generations.verify('agent-7', 1, old))).toBe('unauthenticated');
    expect(hub.generations.verify('agent-7', 1, current)).toEqual({ version: 2 });
  });

  it('stay closed over a kill and a clock that was set back, from the first refusal on', async () => {
    const hub = await createRotating();
    const old = thiefBearer(hub, 'agent-7', 1, 1);
    const verifyAfterRestart = async () => {
      const clock = await createHubClock(hub.db, hub.vault, new FakeClock(START_MS));
      const generations = createLiveGenerations({ db: hub.db, vault: hub.vault, clock });
      await generations.reload();
      return codeOf(() => generations.verify('agent-7', 1, old));
    };
    await hub.wall.advance(7 * DAY_MS - 1);
    await hub.generations.catchUp();
    expect(await verifyAfterRestart()).toBe('done');
    await hub.wall.advance(1);
    await hub.generations.catchUp();
    expect(await verifyAfterRestart()).toBe('unauthenticated');
  });

  it('are those of the store: a previous one that was destroyed verifies no more', async () => {
    const hub = await createRotating();
    const old = thiefBearer(hub, 'agent-7', 1, 1);
    await retireRotation(hub, 'master', { now: true, leave: ['agent-7'] }, operator);
    expect(await codeOf(() => hub.generations.verify('agent-7', 1, old))).toBe('unauthenticated');
    expect(await codeOf(() => hub.generations.read(1))).toBe('store_unreadable');
    expect(hub.generations.read(2).value.reveal()).toHaveLength(32);
  });
});

describe('a store of generations that cannot be read', () => {
  it('answers nothing at all at a start, neither yes nor no, and answers once it is mended', async () => {
    const hub = await createRotating();
    const bearer = thiefBearer(hub, 'agent-7', 1, 2);
    hub.tamper(damage);
    const again = await hub.restart();
    expect(again.generations.isReadable).toBe(false);
    expect(await codeOf(() => again.generations.verify('agent-7', 1, bearer))).toBe('unavailable');
    again.tamper(mend);
    await again.generations.reload();
    expect(again.generations.verify('agent-7', 1, bearer)).toEqual({ version: 2 });
  });

  it('is no first generation: making a master over it is refused', async () => {
    const hub = await createRotating();
    hub.tamper(damage);
    expect(
      await codeOf(startRotation(hub, { secret: 'master', reason: 'leak', leave: [], narrowByMs: null }, operator)),
    ).toBe('store_unreadable');
  });

  it('leaves what was read before to say yes for 30 s, and then answers nothing', async () => {
    const hub = await createRotating();
    const bearer = thiefBearer(hub, 'agent-7', 1, 1);
    hub.tamper(damage);
    expect(await codeOf(hub.generations.reload())).toBe('store_unreadable');
    expect(hub.generations.verify('agent-7', 1, bearer)).toEqual({ version: 1 });
    await hub.wall.advance(20_000);
    expect(await codeOf(hub.generations.reload())).toBe('store_unreadable');
    await hub.wall.advance(9_999);
    expect(hub.generations.verify('agent-7', 1, bearer)).toEqual({ version: 1 });
    await hub.wall.advance(1);
    expect(await codeOf(() => hub.generations.verify('agent-7', 1, bearer))).toBe('unavailable');
    hub.tamper(mend);
    await hub.generations.reload();
    expect(hub.generations.verify('agent-7', 1, bearer)).toEqual({ version: 1 });
  });

  it('refuses no beat while it is being read', async () => {
    const hub = await createRotating();
    const bearer = thiefBearer(hub, 'agent-7', 1, 1);
    const reading = hub.generations.reload();
    for (let turn = 0; turn < 50; turn += 1) {
      expect(hub.generations.verify('agent-7', 1, bearer)).toEqual({ version: 1 });
      await Promise.resolve();
    }
    await reading;
    expect(hub.generations.verify('agent-7', 1, bearer)).toEqual({ version: 1 });
  });
});

it('each hub reads its own store', async () => {
  const [hub, other] = [await createTestHub(), await createTestHub()];
  const generations = createLiveGenerations({ ...other, vault: hub.vault });
  await generations.reload();
  expect(await codeOf(() => generations.verify('agent-7', 1, thiefBearer(hub, 'agent-7', 1, 1)))).toBe(
    'unauthenticated',
  );
  expect(generations.verify('agent-7', 1, thiefBearer(other, 'agent-7', 1, 1))).toEqual({ version: 1 });
});
