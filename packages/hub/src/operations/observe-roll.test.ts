import { sweepRoll } from '@rollcall/core/rotation';
import { beforeEach, describe, expect, it } from 'vitest';
import { addExisting, createWrapKey, enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { createTestHub, operator, type TestHub } from '../hub.fixture.ts';
import { listUndestroyed } from '../store/generations.ts';
import { listRoll } from '../store/hosts.ts';
import { deletePendings, findPendings, insertPending } from '../store/pins.ts';
import { addHost } from './add-host.ts';
import { evictHost, removeHost } from './end-host.ts';
import { observeFirstUse, observeRoll } from './observe-roll.ts';
import { startRotation } from './rotation/walk.ts';
import { suspendHost } from './suspend-host.ts';

let hub: TestHub;
let active: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  active = await enrolNew(hub, 'active');
});

const generations = () => listUndestroyed(hub.db, hub.vault, 'master');
const observeAll = async () => observeRoll(hub, hub.db, null, await generations());
const observe = async () => new Map((await observeAll()).map((host) => [host.id, host]));
const sweep = async () => sweepRoll(await observeAll(), await generations(), hub.clock.now());

describe('the pass over the roll', () => {
  it('examines every row that the registry query returns, whatever its state, and whether it can be read', async () => {
    await addHost(hub, { host: 'invited' }, operator);
    await addExisting(hub, 'unpinned');
    for (const id of ['suspended', 'evicted', 'removed', 'damaged', 'silent']) await enrolNew(hub, id);
    await suspendHost(hub, 'suspended', operator);
    await evictHost(hub, 'evicted', false, operator);
    await removeHost(hub, 'removed', operator);
    hub.tamper(`update hosts set status = 'evicted' where id = 'damaged'`);
    const rows = (await listRoll(hub.db, hub.vault)).map(({ id }) => id);
    expect(rows).toEqual(['active', 'damaged', 'evicted', 'invited', 'silent', 'suspended', 'unpinned']);
    expect((await observeAll()).map(({ id }) => id)).toEqual(rows);
    expect((await observeFirstUse(hub, hub.db)).map(({ id }) => id)).toEqual(rows);
    expect((await sweep()).examined).toBe(rows.length);
  });

  it('takes a row that cannot be read for one that has proven nothing: forging “evicted” does not open a gate', async () => {
    await enrolNew(hub, 'damaged');
    expect((await sweep()).notProvenOnCurrent).toEqual([]);
    hub.tamper(`update hosts set status = 'evicted' where id = 'damaged'`);
    expect((await observe()).get('damaged')).toMatchObject({
      status: 'active',
      pin: 'unreadable',
      provenVersion: null,
    });
    expect(await sweep()).toMatchObject({
      notProvenOnCurrent: ['damaged'],
      withoutUsablePin: ['damaged'],
      evicted: [],
    });
    await evictHost(hub, 'active', false, operator);
    expect((await sweep()).evicted).toEqual(['active']);
  });

  it('does not let a pin that was left behind stand in for one that is missing', async () => {
    await addExisting(hub, 'unpinned');
    await enrolNew(hub, 'gone');
    const kept = `create table kept as select * from pins where host = 'gone'`;
    hub.tamper(kept);
    await removeHost(hub, 'gone', operator);
    hub.tamper('insert into pins select * from kept');
    expect((await sweep()).withoutUsablePin).toEqual(['unpinned']);
  });

  it('tells a pin that cannot be read from none', async () => {
    await addExisting(hub, 'unpinned');
    hub.tamper(`update pins set anchor = 'operator' where host = 'active'`);
    const hosts = await observe();
    expect([hosts.get('active')?.pin, hosts.get('unpinned')?.pin]).toEqual(['unreadable', 'none']);
    hub.tamper(`update pins set anchor = 'enrolment' where host = 'active'`);
    expect((await observe()).get('active')?.pin).toBe('usable');
  });

  it('sees a host as fresh until it was silent for a window, on a clock that no host sets', async () => {
    expect((await observe()).get('active')).toMatchObject({ fresh: true });
    await hub.wall.advance(30_000);
    expect((await observe()).get('active')).toMatchObject({ fresh: true });
    await hub.wall.advance(1);
    expect((await observe()).get('active')).toMatchObject({ fresh: false });
    await active.beat(hub, { body: { sentAt: '2099-01-01T00:00:00Z' } });
    expect((await observe()).get('active')).toMatchObject({ fresh: true });
  });

  it('counts pending changes of the pin that stands, and no others', async () => {
    await active.beat(hub, { key: createWrapKey() });
    expect((await observe()).get('active')?.pendingPins).toBe(1);
    const [pending] = await findPendings(hub.db, hub.vault, 'active');
    await hub.db.transaction().execute(async (tx) => {
      await deletePendings(tx, 'active');
      if (pending !== undefined) await insertPending(tx, hub.vault, { ...pending, pinned: 'former' });
    });
    expect((await observe()).get('active')?.pendingPins).toBe(0);
  });

  it('sees that a host went back to an older generation, for as long as a silent host counts as there', async () => {
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 2) });
    expect((await observe()).get('active')).toMatchObject({ provenVersion: 2, presentingOld: false });
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 1) });
    expect((await observe()).get('active')).toMatchObject({ provenVersion: 2, presentingOld: true });
    await hub.wall.advance(30_000);
    expect((await observe()).get('active')?.presentingOld).toBe(true);
    await hub.wall.advance(1);
    expect((await observe()).get('active')?.presentingOld).toBe(false);
    expect(hub.oldHits.read(1)).toMatchObject({ count: 1, sources: [{ host: 'active', address: '192.0.2.1' }] });
  });

  it('lets no beat with the old generation speak for a host that has left it behind', async () => {
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 2) });
    const before = hub.roll.get('active');
    const { instances, lastSeenAt } = { ...before };
    await hub.wall.advance(1_000);
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 1) });
    expect(hub.roll.get('active')).toMatchObject({ instances, lastSeenAt });
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 2) });
    expect(hub.roll.get('active')?.lastSeenAt).toBe((lastSeenAt ?? 0) + 1_000);
  });

  it('takes a host that beats on beside the old generation for two machines, and one that catches up for one', async () => {
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 2) });
    const putBack = { body: { instance: 'AAAAAAAAAAAAAAAAAAAAAA' } };
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 1), ...putBack });
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 2), ...putBack });
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 2), ...putBack });
    expect(hub.roll.get('active')?.cloneAlertedAt).toBeNull();
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 1), body: { instance: 'BBBBBBBBBBBBBBBBBBBBBA' } });
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 2), ...putBack });
    expect(hub.roll.get('active')?.cloneAlertedAt).not.toBeNull();
  });

  it('holds no beat of a generation that is gone against the next rotation', async () => {
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 2) });
    await active.beat(hub, { bearer: thiefBearer(hub, 'active', 1, 1) });
    expect((await observe()).get('active')?.presentingOld).toBe(true);
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: ['active'], narrowByMs: null }, operator);
    expect((await observe()).get('active')?.presentingOld).toBe(false);
  });
});
