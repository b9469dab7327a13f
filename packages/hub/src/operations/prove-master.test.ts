import { beforeEach, expect, it } from 'vitest';
import { createTestHost, enrolNew, type TestHost } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, operator, type TestHub } from '../hub.fixture.ts';
import { findAssignment } from '../store/assignments.ts';
import { addHost, reenrolHost } from './add-host.ts';
import { proveMaster } from './prove-master.ts';
import { suspendHost } from './suspend-host.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = createTestHost('agent-7');
  await host.enrol(hub, (await addHost(hub, { host: 'agent-7' }, operator)).token ?? '');
});

const proofs = async () => (await auditOf(hub)).filter((line) => line.startsWith('host.proved')).length;
const proof = { host: 'agent-7', life: 1, version: 1, step: 2 };

it('one beat with the step under its bearer proves both, once', async () => {
  expect(hub.roll.get('agent-7')).toMatchObject({ provenVersion: null, ackedStep: 0 });
  await host.beat(hub);
  expect(hub.roll.get('agent-7')).toMatchObject({ provenVersion: 1, ackedStep: 2 });
  for (let beat = 0; beat < 3; beat += 1) await host.beat(hub);
  expect(await proofs()).toBe(1);
});

it.each([
  ['an earlier step', { epoch: 1, step: 1 }],
  ['a later step', { epoch: 1, step: 999 }],
  ['another epoch', { epoch: 2, step: 2 }],
])('%s is no proof of this one, though the bearer is one of its version', async (_what, position) => {
  await host.beat(hub, { body: { held: { master: position } } });
  expect(hub.roll.get('agent-7')).toMatchObject({ provenVersion: 1, ackedStep: 0 });
  await host.beat(hub);
  expect(hub.roll.get('agent-7')).toMatchObject({ ackedStep: 2 });
});

it('a version is never lowered', async () => {
  await proveMaster(hub, { ...proof, version: 5, step: null });
  await proveMaster(hub, { ...proof, version: 3, step: null });
  expect(hub.roll.get('agent-7')).toMatchObject({ provenVersion: 5 });
  expect(await proofs()).toBe(1);
});

it('a proof of a life that has ended meanwhile is no proof; one of the life that is, is', async () => {
  const { token = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
  await host.enrol(hub, token);
  await proveMaster(hub, { ...proof, step: 3 });
  expect(hub.roll.get('agent-7')).toMatchObject({ life: 2, provenVersion: null, ackedStep: 0 });
  expect(await proofs()).toBe(0);
  await proveMaster(hub, { ...proof, life: 2, step: 3 });
  expect(hub.roll.get('agent-7')).toMatchObject({ life: 2, provenVersion: 1, ackedStep: 3 });
});

it('a host that was suspended meanwhile proves nothing', async () => {
  await suspendHost(hub, 'agent-7', operator);
  await proveMaster(hub, proof);
  expect(hub.roll.get('agent-7')).toMatchObject({ provenVersion: null, ackedStep: 0 });
});

it('a step that is no longer wanted is acked by nobody', async () => {
  await proveMaster(hub, { ...proof, step: 1 });
  expect((await findAssignment(hub.db, hub.vault, 'agent-7', 'master'))?.ackedStep).toBe(0);
  await proveMaster(hub, proof);
  expect((await findAssignment(hub.db, hub.vault, 'agent-7', 'master'))?.ackedStep).toBe(2);
});

it('what is proven is of that host alone', async () => {
  const other = await enrolNew(hub, 'agent-8');
  expect(hub.roll.get('agent-7')).toMatchObject({ provenVersion: null, ackedStep: 0 });
  expect(await codeOf(proveMaster(hub, { ...proof, host: 'nobody' }))).toBe('host_unknown');
  expect(hub.roll.get(other.id)).toMatchObject({ provenVersion: 1, ackedStep: 2 });
});
