import { beforeEach, describe, expect, it } from 'vitest';
import { addExisting, createWrapKey, enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, operator, type TestHub } from '../hub.fixture.ts';
import { acceptFirstUse, showExposure } from './accept-first-use.ts';
import { addHost } from './add-host.ts';
import { suspendHost } from './suspend-host.ts';

let hub: TestHub;
beforeEach(async () => {
  hub = await createTestHub();
});

const bearerOf = (host: TestHost) => thiefBearer(hub, host.id, 1, 1);
const beat = (host: TestHost, changes = {}) => host.beat(hub, { bearer: bearerOf(host), ...changes });
const turnOn = (exposed: number, afterMs = DAY_MS) =>
  acceptFirstUse(hub, { on: true, exposed, until: new Date(hub.wall.now() + afterMs).toISOString() }, operator);
const pinOf = (id: string) => hub.roll.get(id)?.pinFingerprint;

/** One host for each reason to be exposed, two that are not, and one that needs no first use. */
async function createFleet() {
  const [good, better, stale, twoKeys, tooOld] = (await Promise.all(
    ['good', 'better', 'stale', 'two-keys', 'too-old'].map((id) => addExisting(hub, id)),
  )) as [TestHost, TestHost, TestHost, TestHost, TestHost];
  await enrolNew(hub, 'pinned');
  await addExisting(hub, 'never-seen');
  await addHost(hub, { host: 'invited' }, operator);
  await addExisting(hub, 'suspended');
  await suspendHost(hub, 'suspended', operator);
  await Promise.all([good, better, stale, twoKeys].map((host) => beat(host)));
  await beat(twoKeys, { key: createWrapKey() });
  await beat(tooOld, { body: { wrapKey: undefined } });
  await hub.wall.advance(DAY_MS);
  const tooNew = await addExisting(hub, 'too-new');
  await Promise.all([good, better, twoKeys, tooNew].map((host) => beat(host)));
  await beat(tooOld, { body: { wrapKey: undefined } });
  return { good, better, stale, twoKeys, tooOld, tooNew };
}

describe('exposure', () => {
  it('looks at the whole roll, and names every host that could not publish now, and why', async () => {
    const { good } = await createFleet();
    const exposure = await showExposure(hub);
    expect(Object.fromEntries(exposure.hosts.map(({ id, why }) => [id, why]))).toEqual({
      'never-seen': 'never_seen',
      invited: 'invited',
      suspended: 'suspended',
      stale: 'stale',
      'two-keys': 'two_keys',
      'too-old': 'agent_too_old',
      'too-new': 'too_new',
    });
    expect(exposure).toMatchObject({ exposed: 7, examined: 10, firstUse: { until: null, hosts: 0 } });
    expect(exposure.eligible.map(({ id }) => id).sort()).toEqual(['better', 'good']);
    expect(exposure.eligible).toContainEqual({ id: 'good', fingerprint: good.key.public.fingerprint });
  });
});

describe('first use', () => {
  it('is refused while the number that was read does not cover the exposed, and turned on by the one that does', async () => {
    await createFleet();
    expect(await codeOf(turnOn(6))).toBe('exposure_not_acknowledged');
    expect((await showExposure(hub)).firstUse.hosts).toBe(0);
    const answer = await turnOn(7);
    expect(answer.accepted.map(({ id }) => id).sort()).toEqual(['better', 'good']);
    expect((await showExposure(hub)).firstUse.hosts).toBe(2);
    expect(await auditOf(hub)).toContain('first_use.accepted roll done');
  });

  it('takes of the hosts that were not exposed the one key that each was publishing, and of no other any', async () => {
    const fleet = await createFleet();
    await turnOn(7);
    const late = await addExisting(hub, 'late');
    const thief = createWrapKey();
    expect((await beat(fleet.better, { key: thief })).pin).toEqual({ state: 'not_accepted' });
    for (const host of [fleet.stale, fleet.twoKeys, fleet.tooNew, fleet.tooOld, late]) {
      expect((await beat(host)).pin).toEqual({ state: 'not_accepted' });
      expect(pinOf(host.id)).toBe('');
    }
    for (const host of [fleet.good, fleet.better]) {
      expect((await beat(host)).pin).toEqual({ state: 'pinned', fingerprint: host.key.public.fingerprint });
    }
  });

  it('takes no key of a thief who publishes one beside an agent that is too old to have one', async () => {
    const old = await addExisting(hub, 'old');
    const bearer = thiefBearer(hub, 'old', 1, 1);
    const thief = { bearer, key: createWrapKey(), body: { instance: 'dGhpZWYtaW5zdGFuY2UtMQ' } };
    const itself = { bearer, body: { wrapKey: undefined } } as unknown as Parameters<typeof old.beat>[1];
    await old.beat(hub, thief);
    await hub.wall.advance(DAY_MS);
    await old.beat(hub, itself);
    await old.beat(hub, thief);
    expect((await showExposure(hub)).hosts).toMatchObject([{ id: 'old', why: 'agent_too_old' }]);
    expect(await codeOf(turnOn(1))).toBe('nothing_eligible');
    // The control: nobody but who publishes it for a day.
    await hub.wall.advance(DAY_MS);
    await old.beat(hub, thief);
    expect((await turnOn(0)).accepted).toMatchObject([{ id: 'old' }]);
  });

  it('ends at its time, and when it is turned off', async () => {
    const { good, better } = await createFleet();
    await turnOn(7, 2_000);
    await hub.wall.advance(1_999);
    expect((await beat(good)).pin.state).toBe('pinned');
    await hub.wall.advance(1);
    expect((await beat(better)).pin.state).toBe('not_accepted');

    await turnOn(7);
    await acceptFirstUse(hub, { on: false }, operator);
    expect((await beat(better)).pin.state).toBe('not_accepted');
    await turnOn(7);
    expect((await beat(better)).pin.state).toBe('pinned');
  });

  it('forgets what it accepted before when it is turned on again', async () => {
    const { better } = await createFleet();
    await turnOn(7);
    await beat(better, { key: createWrapKey() });
    // It showed a second key since: now it is exposed.
    expect((await turnOn(8)).accepted.map(({ id }) => id)).toEqual(['good']);
    expect((await beat(better)).pin.state).toBe('not_accepted');
  });

  it('is refused with nobody to accept, for too long, for a time that is past, and while the clock jumped', async () => {
    expect(await codeOf(turnOn(100))).toBe('nothing_eligible');
    await createFleet();
    expect(await codeOf(turnOn(7, 31 * DAY_MS))).toBe('window_out_of_bounds');
    expect(await codeOf(turnOn(7, 0))).toBe('window_out_of_bounds');
    hub.wall.setWall(hub.wall.now() + DAY_MS);
    expect(await codeOf(turnOn(7))).toBe('hub_time_jumped');
    expect((await showExposure(hub)).firstUse.hosts).toBe(0);
  });
});
