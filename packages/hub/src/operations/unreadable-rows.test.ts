/** A row that is damaged or forged concerns the host that it is about: everyone else goes on, and a person can mend it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestHost, createWrapKey, enrolNew, type TestHost } from '../host.fixture.ts';
import { codeOf, createTestHub, operator, type TestHub } from '../hub.fixture.ts';
import { listAudit } from '../store/audit.ts';
import { listHostRows, showHost } from '../views/hosts.ts';
import { listPendingPins, showPin } from '../views/pins.ts';
import { showReadiness, showRotation } from '../views/rotations.ts';
import { addHost, reenrolHost } from './add-host.ts';
import { evictHost, removeHost } from './end-host.ts';
import { startRotation, stepMaster } from './rotation/walk.ts';
import { resumeHost, suspendHost } from './suspend-host.ts';

let hub: TestHub;
let host: TestHost;
let other: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
  other = await enrolNew(hub, 'agent-8');
  await host.beat(hub, { key: createWrapKey() });
  await reenrolHost(hub, 'agent-7', undefined, operator);
});

const damages: readonly (readonly [table: string, sql: string])[] = [
  ['hosts', `update hosts set proven_version = 9 where id = 'agent-7'`],
  ['pins', `update pins set since = since + 1 where host = 'agent-7'`],
  ['pending_pins', `update pending_pins set address = 'x' where host = 'agent-7'`],
  ['assignments', `update assignments set acked_step = 9 where host = 'agent-7'`],
  ['enrolment_tokens', `update enrolment_tokens set expires_at = expires_at + 1 where host = 'agent-7'`],
];

async function damage(sql: string): Promise<void> {
  hub.tamper(sql);
  await hub.roll.catchUp();
}

const steps = async () => {
  while (await stepMaster(hub));
};
const blockersOf = async (member: string) =>
  (await showRotation(hub, 'master')).gate.blockers.filter((blocker) => blocker.member === member);
const lastOf = async (action: string) => (await listAudit(hub.db, 0, 1_000)).filter((r) => r.action === action).at(-1);

/** The other host comes along, whatever became of this one. */
async function carryOther(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await other.beat(hub);
    await steps();
  }
}

describe.each(damages)('a row of %s', (table, sql) => {
  it('that cannot be read stops no rotation: the other host comes along', async () => {
    await startRotation(hub, { secret: 'master', reason: 'leak', leave: [], narrowByMs: null }, operator);
    await damage(sql);
    await hub.wall.advance(60_000);
    await carryOther();
    expect(hub.roll.get('agent-8')).toMatchObject({ provenVersion: 2, wantedPresent: 2 });
    const missing = (await blockersOf('agent-7')).map((blocker) => blocker.missing);
    expect(missing.includes('readable_rows')).toBe(table !== 'enrolment_tokens');
    await hub.wall.advance(8 * 86_400_000);
    await carryOther();
    expect(other.assignment).toMatchObject({ present: 2, accept: [{ version: 2 }] });
  });

  it('is named: by readiness, in the list, and beside what can be read', async () => {
    await damage(sql);
    const { problems } = await showReadiness(hub, []);
    const named = problems.find(({ code }) => code === 'rows_unreadable')?.hosts;
    const flags = (await listHostRows(hub)).map(({ id, flags: of }) => `${id} ${of.includes('unreadable')}`);
    const isOnRoll = table !== 'enrolment_tokens';
    expect([named, flags]).toEqual([isOnRoll ? ['agent-7'] : undefined, [`agent-7 ${isOnRoll}`, 'agent-8 false']]);
    expect((await showHost(hub, 'agent-7')).unreadable).toEqual([table]);
    expect((await showPin(hub, 'agent-7')).unreadable).toEqual([table]);
    expect((await showHost(hub, 'agent-8')).unreadable).toEqual([]);
    expect((await listPendingPins(hub)).unreadable).toEqual(table === 'pending_pins' ? ['agent-7'] : []);
  });

  it('is mended by enrolling the host again, and the audit says so', async () => {
    await damage(sql);
    const { token = '', life } = await reenrolHost(hub, 'agent-7', undefined, operator);
    expect((await lastOf('host.reenrolment_offered'))?.details).toMatchObject({ mended: [table] });
    expect((await showHost(hub, 'agent-7')).unreadable).toEqual([]);
    const again = createTestHost('agent-7');
    await again.enrol(hub, token);
    expect(hub.roll.get('agent-7')?.life).toBe(life);
    expect((await again.beat(hub)).pin.state).toBe('pinned');
    expect(await codeOf(host.beat(hub))).toBe('unauthenticated');
    expect((await showReadiness(hub, [])).problems.map(({ code }) => code)).not.toContain('rows_unreadable');
  });

  it.each([
    ['evicted', evict],
    ['removed', remove],
  ])('keeps no host from being %s, and the audit says so', async (what, end) => {
    await damage(sql);
    await end();
    expect((await lastOf(`host.${what}`))?.details).toMatchObject({ mended: [table] });
    expect(await codeOf(host.beat(hub))).toBe('unauthenticated');
    expect((await showReadiness(hub, [])).problems.map(({ code }) => code)).not.toContain('rows_unreadable');
    expect(await codeOf(other.beat(hub))).toBe('done');
  });
});

function evict(): Promise<unknown> {
  return evictHost(hub, 'agent-7', false, operator);
}

function remove(): Promise<unknown> {
  return removeHost(hub, 'agent-7', operator);
}

it('a host whose row was forged gets a life above every one it had, and keeps no ban, pin or key that the row speaks of', async () => {
  hub.tamper(`update hosts set life = 1, status = 'active', banned = 0 where id = 'agent-7'`);
  hub.tamper(`update hosts set knows_master = 5 where id = 'agent-7'`);
  await hub.roll.catchUp();
  const { life, heldSecrets } = await evictHost(hub, 'agent-7', false, operator);
  expect(life).toBeGreaterThan(1_000_000_000);
  expect(heldSecrets).toEqual(['master']);
  await removeHost(hub, 'agent-7', operator);
  expect((await addHost(hub, { host: 'agent-7' }, operator)).life).toBe(life + 1);
});

it('an id whose row cannot be read is taken, whatever the row says of its state', async () => {
  await removeHost(hub, 'agent-7', operator);
  hub.tamper(`update hosts set life = 9 where id = 'agent-7'`);
  expect(await codeOf(addHost(hub, { host: 'agent-7' }, operator))).toBe('host_exists');
  await removeHost(hub, 'agent-7', operator);
  expect(await codeOf(addHost(hub, { host: 'agent-7' }, operator))).toBe('done');
});

it('a damaged token keeps no host from being suspended, and a damaged assignment none from being resumed', async () => {
  await damage(`update enrolment_tokens set expires_at = 1 where host = 'agent-7'`);
  await suspendHost(hub, 'agent-7', operator);
  await damage(`update assignments set step = 1 where host = 'agent-7'`);
  await resumeHost(hub, 'agent-7', operator);
  await host.beat(hub);
  await host.beat(hub);
  expect(hub.roll.get('agent-7')).toMatchObject({ isAssignmentReadable: true });
  expect(hub.roll.get('agent-7')?.ackedStep).toBe(hub.roll.get('agent-7')?.wantedStep);
});
