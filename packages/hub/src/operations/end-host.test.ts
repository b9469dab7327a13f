import { beforeEach, describe, expect, it } from 'vitest';
import { createWrapKey, enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, operator, type TestHub } from '../hub.fixture.ts';
import { listUndestroyed } from '../store/generations.ts';
import { findObserved, findPendings, findPin } from '../store/pins.ts';
import { findRunning } from '../store/rotations.ts';
import { reenrolHost } from './add-host.ts';
import { approvePin } from './decide-pin.ts';
import { evictHost, removeHost } from './end-host.ts';
import { observeRoll } from './observe-roll.ts';
import { startRotation } from './rotation/walk.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
  await enrolNew(hub, 'agent-8');
});

const onRoll = async () =>
  (await observeRoll(hub, hub.db, null, await listUndestroyed(hub.db, hub.vault, 'master'))).map(({ id }) => id);

describe.each<[string, (of: TestHub) => Promise<unknown>]>([
  ['evicted', (of) => evictHost(of, 'agent-7', false, operator)],
  ['removed', (of) => removeHost(of, 'agent-7', operator)],
])('a host that is %s', (_state, end) => {
  it('has said nothing: what it reported of its listener is forgotten, and no other host’s', async () => {
    const tokens = [{ secret: 'fleet', counter: 'AAAAAAAAAAAAAAAAAAAAAA', hits: [], samples: [] }];
    const other = await enrolNew(hub, 'agent-9');
    for (const one of [host, other]) await one.beat(hub, { body: { tokens } });
    expect(hub.tokenReports.has('agent-7')).toBe(true);
    await end(hub);
    expect([hub.tokenReports.has('agent-7'), hub.tokenReports.has('agent-9')]).toEqual([false, true]);
  });

  it('holds nothing: pin, pendings, approvals, tokens and bearers are dead, and no other host’s', async () => {
    await host.beat(hub, { key: createWrapKey() });
    await approvePin(hub, 'agent-7', createWrapKey().public.fingerprint, operator);
    const { token = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    await end(hub);
    expect(await findPin(hub.db, hub.vault, 'agent-7')).toBeUndefined();
    expect([
      await findPendings(hub.db, hub.vault, 'agent-7'),
      await findObserved(hub.db, hub.vault, 'agent-7'),
    ]).toEqual([[], []]);
    expect(await codeOf(host.enrol(hub, token))).toBe('unauthenticated');
    expect(await codeOf(host.beat(hub))).toBe('unauthenticated');
    expect(await findPin(hub.db, hub.vault, 'agent-8')).toBeDefined();
    expect(hub.roll.get('agent-8')).toMatchObject({ status: 'active', pinState: 'pinned' });
  });
});

it('an evicted host keeps its place on the roll; a removed one leaves it', async () => {
  await evictHost(hub, 'agent-7', false, operator);
  expect(await onRoll()).toEqual(['agent-7', 'agent-8']);
  await removeHost(hub, 'agent-7', operator);
  expect(await onRoll()).toEqual(['agent-8']);
});

it('eviction raises the life: yesterday’s disk is dead in the next life too', async () => {
  const yesterday = host.bearer();
  expect((await evictHost(hub, 'agent-7', false, operator)).life).toBe(2);
  const { token = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
  await host.enrol(hub, token);
  expect(hub.roll.get('agent-7')).toMatchObject({ status: 'active', life: 3 });
  for (const bearer of [yesterday, thiefBearer(hub, 'agent-7', 2, 1)])
    expect(await codeOf(host.beat(hub, { bearer }))).toBe('unauthenticated');
  expect(await codeOf(host.beat(hub))).toBe('done');
});

it('what was done already is refused, a ban on top of it is not, and an unknown host is named as that', async () => {
  await evictHost(hub, 'agent-7', false, operator);
  expect(await codeOf(evictHost(hub, 'agent-7', false, operator))).toBe('host_evicted');
  expect(await codeOf(evictHost(hub, 'agent-7', true, operator))).toBe('done');
  expect(await codeOf(evictHost(hub, 'agent-7', true, operator))).toBe('host_evicted');
  await removeHost(hub, 'agent-7', operator);
  expect(await codeOf(removeHost(hub, 'agent-7', operator))).toBe('host_unknown');
  expect(await codeOf(evictHost(hub, 'nobody', false, operator))).toBe('host_unknown');
});

it('removing during a rotation leaves the host, by name, unless it had come along', async () => {
  await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
  await host.beat(hub, { bearer: thiefBearer(hub, 'agent-7', 1, 2) });
  await removeHost(hub, 'agent-7', operator);
  expect((await findRunning(hub.db, hub.vault, 'master'))?.left).toEqual([]);
  await removeHost(hub, 'agent-8', operator);
  expect((await findRunning(hub.db, hub.vault, 'master'))?.left).toEqual(['agent-8']);
  expect((await auditOf(hub)).filter((line) => line.startsWith('host.removed'))).toHaveLength(2);
});
