/** What whoever can write the database file, and does not have the key-encryption key, may do: destroy, and nothing more (design 3). */
import { FakeClock } from '@rollcall/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { addExisting, createWrapKey, enrolNew, type TestHost, thiefBearer } from './host.fixture.ts';
import { codeOf, createTestHub, DAY_MS, HOUR_MS, operator, START_MS, type TestHub } from './hub.fixture.ts';
import { createHubClock } from './hub-clock.ts';
import { acceptFirstUse, showExposure } from './operations/accept-first-use.ts';
import { approvePin } from './operations/decide-pin.ts';
import { startRotation, stepMaster } from './operations/rotation/walk.ts';
import { listAudit } from './store/audit.ts';
import { readMeta, writeMeta } from './store/meta.ts';
import { findPin } from './store/pins.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

async function rotate(reason: 'planned' | 'leak'): Promise<void> {
  await startRotation(hub, { secret: 'master', reason, leave: [], narrowByMs: null }, operator);
  while (await stepMaster(hub));
  await host.beat(hub);
  await host.beat(hub);
  while (await stepMaster(hub));
}

describe('a row that is forged', () => {
  it('of a pending change does not put another key under the fingerprint that an operator types', async () => {
    const [reinstalled, thief] = [createWrapKey(), createWrapKey()];
    const { fingerprint } = reinstalled.public;
    await host.beat(hub, { key: reinstalled });
    hub.tamper('update pending_pins set public = ?', Buffer.from(thief.public.bytes));
    expect(await codeOf(approvePin(hub, 'agent-7', fingerprint, operator))).toBe('store_unreadable');
    expect((await findPin(hub.db, hub.vault, 'agent-7'))?.fingerprint).toBe(host.key.public.fingerprint);
    hub.tamper('update pending_pins set public = ?', Buffer.from(reinstalled.public.bytes));
    expect((await approvePin(hub, 'agent-7', fingerprint, operator)).pin?.fingerprint).toBe(fingerprint);
  });

  it('of an observed key neither', async () => {
    const older = await addExisting(hub, 'older');
    const thief = createWrapKey();
    const { fingerprint, bytes } = older.key.public;
    await older.beat(hub, { bearer: thiefBearer(hub, 'older', 1, 1) });
    hub.tamper('update observed_keys set public = ?', Buffer.from(thief.public.bytes));
    expect(await codeOf(approvePin(hub, 'older', fingerprint, operator))).toBe('store_unreadable');
    hub.tamper('update observed_keys set public = ?', Buffer.from(bytes));
    expect((await approvePin(hub, 'older', fingerprint, operator)).pin?.fingerprint).toBe(fingerprint);
  });

  it('of an observed key does not make a key of this minute old enough for first use', async () => {
    const older = await addExisting(hub, 'older');
    await older.beat(hub, { bearer: thiefBearer(hub, 'older', 1, 1), key: createWrapKey() });
    hub.tamper('update observed_keys set first_seen_at = first_seen_at - ?', 2 * DAY_MS);
    const until = new Date(hub.wall.now() + HOUR_MS).toISOString();
    expect(await codeOf(acceptFirstUse(hub, { on: true, exposed: 0, until }, operator))).toBe(
      'exposure_not_acknowledged',
    );
    expect(await codeOf(acceptFirstUse(hub, { on: true, exposed: 1, until }, operator))).toBe('nothing_eligible');
    expect(await showExposure(hub)).toMatchObject({ eligible: [], hosts: [{ id: 'older', why: 'keys_unreadable' }] });
  });

  it('of an assignment does not give a host back the generation that leaked', async () => {
    await rotate('leak');
    expect(host.assignment).toMatchObject({ present: 2, accept: [{ version: 2 }] });
    hub.tamper(`update assignments set accept = '[1]', present = 1, step = step + 1`);
    await hub.roll.reload('agent-7');
    await codeOf(host.beat(hub));
    expect(host.assignment).toMatchObject({ present: 2, accept: [{ version: 2 }] });
  });

  it('of an assignment does not say that a step was proven', async () => {
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    while (await stepMaster(hub));
    hub.tamper(`update assignments set acked_step = step`);
    await hub.roll.reload('agent-7');
    expect(await codeOf(host.beat(hub))).toBe('unavailable');
  });

  it('of a rotation does not lead the fleet back to the generation that leaked', async () => {
    await rotate('leak');
    hub.tamper(`update rotations set from_version = 2, to_version = 1, phase = 'rolling'`);
    await codeOf(stepMaster(hub));
    await hub.roll.reload('agent-7');
    await codeOf(host.beat(hub));
    expect(host.assignment).toMatchObject({ present: 2, accept: [{ version: 2 }] });
  });

  it('of a rotation does not turn a leak into a plan, nor name who is left', async () => {
    await startRotation(hub, { secret: 'master', reason: 'leak', leave: [], narrowByMs: null }, operator);
    hub.tamper(`update rotations set reason = 'planned', left_hosts = '["agent-7"]'`);
    expect(await codeOf(stepMaster(hub))).toBe('store_unreadable');
  });

  it.each(['hosts set life', 'pins set since', 'assignments set step'])(
    'with a number that no program writes (%s) is one unreadable host, and stops nobody else',
    async (column) => {
      const other = await enrolNew(hub, 'agent-8');
      hub.tamper(`update ${column} = 1.5 where ${column.startsWith('hosts') ? 'id' : 'host'} = 'agent-7'`);
      await hub.roll.reloadAll();
      const [entry, good] = [hub.roll.get('agent-7'), hub.roll.get('agent-8')];
      const isRead = (of: typeof entry) =>
        of?.status === 'active' && of.pinState === 'pinned' && of.isAssignmentReadable;
      expect([isRead(entry), isRead(good)]).toEqual([false, true]);
      await other.beat(hub);
    },
  );

  it('of the audit is named, and the records before it can be read', async () => {
    const records = await listAudit(hub.db, 0, 100);
    hub.tamper(`update audit set details = '{"a":' where seq = ?`, records.length);
    expect(await codeOf(listAudit(hub.db, 0, 100))).toBe('store_unreadable');
    expect(await listAudit(hub.db, 0, records.length - 1)).toEqual(records.slice(0, -1));
  });

  it('of a host that takes it off the roll does not make the roll smaller', async () => {
    hub.tamper(`update hosts set status = 'removed' where id = 'agent-7'`);
    expect(
      await codeOf(startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator)),
    ).not.toBe('done');
  });

  it.each(['hub_root', 'epoch', 'listen', 'trust_domain', 'clock'] as const)(
    'of the hub’s own facts is no fact: %s',
    async (key) => {
      await hub.db.transaction().execute((tx) => writeMeta(tx, hub.vault, key, 'as it was written'));
      expect(await readMeta(hub.db, hub.vault, key)).toBe('as it was written');
      hub.tamper('update meta set value = ? where key = ?', 'a thief’s', key);
      expect(await codeOf(readMeta(hub.db, hub.vault, key))).toBe('store_unreadable');
      hub.tamper('delete from meta where key = ?', key);
      expect(await codeOf(readMeta(hub.db, hub.vault, key))).toBe('store_unreadable');
    },
  );

  it('of the clock does not lower its floor, nor does taking it away', async () => {
    await hub.wall.advance(HOUR_MS);
    await hub.clock.save(hub.db);
    const start = () => createHubClock(hub.db, hub.vault, new FakeClock(START_MS));
    expect((await start()).now()).toBe(START_MS + HOUR_MS);
    hub.tamper(`update meta set value = '{"floorMs":0,"jumped":false}' where key = 'clock'`);
    expect(await codeOf(start())).toBe('store_unreadable');
    hub.tamper(`delete from meta where key = 'clock'`);
    expect(await codeOf(start())).toBe('store_unreadable');
  });
});

it.each([
  ['assignments', 'host, secret, epoch, step, accept, present, issued_at, acked_step, acked_at'],
  ['pins', 'suite, public, fingerprint, anchor, since'],
])('a row of %s does not open in the place of another host’s', async (table, columns) => {
  const other = await enrolNew(hub, 'agent-8');
  const names = columns.split(', ').filter((name) => name !== 'host' && name !== 'secret');
  hub.tamper(
    `update ${table} set (${[...names, 'mac'].join(', ')}) =
      (select ${[...names, 'mac'].join(', ')} from ${table} where host = 'agent-8') where host = 'agent-7'`,
  );
  await hub.roll.catchUp();
  expect(await codeOf(host.beat(hub))).toBe('unavailable');
  expect(await codeOf(other.beat(hub))).toBe('done');
});
