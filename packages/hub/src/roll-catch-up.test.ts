import { expect, it } from 'vitest';
import { enrolNew } from './host.fixture.ts';
import { createTestHub, operator, type TestHub } from './hub.fixture.ts';
import { addHost } from './operations/add-host.ts';
import { evictHost, removeHost } from './operations/end-host.ts';
import { suspendHost } from './operations/suspend-host.ts';
import { createRoll, type Roll, type RollEntry } from './roll.ts';

/** The projection alone: what was seen belongs to each process. */
const trustOf = (entry: RollEntry) => [entry.id, entry.status, entry.life, entry.pinFingerprint, entry.wantedStep];
const stateOf = (roll: Roll) => [...roll.entries()].map((entry) => trustOf(entry).join(' ')).sort();

/** Another process on the same store, which is told nothing. */
async function createWitness(hub: TestHub): Promise<Roll> {
  return createRoll(hub);
}

it('catches up with each kind of change, and with nothing else', async () => {
  const hub = await createTestHub();
  const roll = await createWitness(hub);
  const acts: readonly [string, () => Promise<unknown>][] = [
    ['a host is added', () => addHost(hub, { host: 'agent-8' }, operator)],
    ['one enrols', () => enrolNew(hub, 'agent-7')],
    ['one is suspended', () => suspendHost(hub, 'agent-7', operator)],
    ['one is evicted', () => evictHost(hub, 'agent-7', false, operator)],
    ['one is removed', () => removeHost(hub, 'agent-7', operator)],
    ['a pin is written from beside', async () => hub.tamper(`update hosts set life = 9 where id = 'agent-8'`)],
  ];
  for (const [what, act] of acts) {
    const before = stateOf(roll);
    await act();
    expect(stateOf(roll), what).toEqual(before);
    await roll.catchUp();
    await hub.roll.catchUp();
    expect(stateOf(roll), what).not.toEqual(before);
    expect(stateOf(roll), what).toEqual(stateOf(hub.roll));
  }
  expect(roll.get('agent-8')?.status).toBe('unreadable');
});

it('reads nothing twice: a host that was read since its change, or that did not change, is left alone', async () => {
  const hub = await createTestHub();
  await enrolNew(hub, 'agent-7');
  await enrolNew(hub, 'agent-8');
  await hub.roll.catchUp();
  const publication = { text: 'as it was', answer: { state: 'none' } } as const;
  for (const entry of hub.roll.entries()) entry.publication = publication;
  await hub.roll.catchUp();
  hub.tamper(`update hosts set address = null where id = 'agent-8'`);
  await hub.roll.catchUp();
  // A projection that was made anew has forgotten what was published.
  expect(hub.roll.get('agent-7')?.publication).toEqual(publication);
  expect(hub.roll.get('agent-8')?.publication).toBeNull();
  await suspendHost(hub, 'agent-8', operator);
  for (const entry of hub.roll.entries()) entry.publication = publication;
  await hub.roll.catchUp();
  expect(hub.roll.get('agent-8')?.publication).toEqual(publication);
});

it('reads the whole roll where many changed, and fails while the store does not answer', async () => {
  const hub = await createTestHub();
  const roll = await createWitness(hub);
  for (let index = 0; index < 80; index += 1) await addHost(hub, { host: `agent-${index}`, existing: true }, operator);
  await roll.catchUp();
  expect(stateOf(roll)).toEqual(stateOf(hub.roll));
  hub.tamper('alter table trust_changes rename to away');
  await expect(roll.catchUp()).rejects.toThrow();
  hub.tamper('alter table away rename to trust_changes');
  await expect(roll.catchUp()).resolves.toBeUndefined();
});
