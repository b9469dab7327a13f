import { encodeBase64url } from '@rollcall/core/bytes';
import type { WrapKeyPair } from '@rollcall/core/seal';
import type { HeartbeatBody } from '@rollcall/wire';
import { beforeEach, describe, expect, it } from 'vitest';
import { addExisting, createWrapKey, enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, operator, START_MS, type TestHub } from '../hub.fixture.ts';
import { listPendingPins } from '../views/pins.ts';
import { acceptFirstUse } from './accept-first-use.ts';
import { addHost } from './add-host.ts';
import { approvePin } from './decide-pin.ts';

let hub: TestHub;
beforeEach(async () => {
  hub = await createTestHub();
});

const published = (key: WrapKeyPair) => ({ suite: 'x25519', public: encodeBase64url(key.public.bytes) });
/** As an agent that knows of no wrap keys. */
const noKey = { wrapKey: undefined } as unknown as Partial<HeartbeatBody>;
const counted = (word: string) => hub.counts.read('publications').get(word) ?? 0;

describe('a host with a pin', () => {
  let host: TestHost;
  beforeEach(async () => {
    host = await enrolNew(hub, 'agent-7');
  });

  it('publishes it: seen, and nothing else', async () => {
    const before = await auditOf(hub);
    const { pin } = await host.beat(hub);
    expect(pin).toEqual({ state: 'pinned', fingerprint: host.key.public.fingerprint });
    expect(hub.roll.get('agent-7')).toMatchObject({ pinSeenAt: START_MS, pinSeenFrom: '192.0.2.1' });
    expect(await auditOf(hub)).toEqual(before);
  });

  it('publishes another: refused, pending with both fingerprints and where from, once however often it comes', async () => {
    const other = createWrapKey();
    for (let beat = 0; beat < 3; beat += 1) {
      const { pin } = await host.beat(hub, { key: other, from: '198.51.100.1' });
      expect(pin).toEqual({ state: 'pending', fingerprint: host.key.public.fingerprint });
    }
    const [pending, ...others] = (await listPendingPins(hub)).pending;
    expect(others).toEqual([]);
    expect(pending).toMatchObject({
      host: 'agent-7',
      pinned: host.key.public.fingerprint,
      new: other.public.fingerprint,
    });
    expect(pending?.evidence).toMatchObject({
      addressThen: '192.0.2.1',
      addressNow: '198.51.100.1',
      beatsWithNewKey: 3,
    });
    expect((await auditOf(hub)).filter((line) => line === 'pin.challenged agent-7 refused')).toHaveLength(1);
    expect(hub.logged.filter((line) => line.includes(other.public.fingerprint))).toHaveLength(1);
    expect((await host.beat(hub)).pin).toEqual({ state: 'pinned', fingerprint: host.key.public.fingerprint });
  });

  it('publishes another from some moment on: one machine that was installed anew, until the former key comes again', async () => {
    const evidence = async () => (await listPendingPins(hub)).pending[0]?.evidence.pinnedKeyStillPublishing;
    await host.beat(hub);
    await hub.wall.advance(1_000);
    await host.beat(hub, { key: createWrapKey() });
    expect(await evidence()).toBe(false);
    await hub.wall.advance(1_000);
    await host.beat(hub);
    expect(await evidence()).toBe(true);
    await hub.wall.advance(60_000);
    expect(await evidence()).toBe(false);
  });

  it('publishes ten thousand: four are kept, the rest is counted, the pin stands, and the true one can still be approved', async () => {
    for (let count = 0; count < 24; count += 1) await host.beat(hub, { key: createWrapKey() });
    expect((await listPendingPins(hub)).pending).toHaveLength(4);
    expect(counted('pending_overflow')).toBe(20);
    const owner = createWrapKey();
    await host.beat(hub, { key: owner });
    const answer = await approvePin(hub, 'agent-7', owner.public.fingerprint, operator);
    expect(answer.effect).toBe('when_published');
    expect((await host.beat(hub, { key: owner, lost: true })).pin).toEqual({
      state: 'pinned',
      fingerprint: owner.public.fingerprint,
    });
    expect((await listPendingPins(hub)).pending).toEqual([]);
  });

  it.each([
    ['too short', encodeBase64url(new Uint8Array(31))],
    ['no base64url', '=='],
    ['of low order', encodeBase64url(new Uint8Array(32))],
    ['not canonical', encodeBase64url(new Uint8Array(32).fill(255))],
  ])('publishes one that is %s: unusable, counted, and the pin is kept', async (_what, text) => {
    const { pin } = await host.beat(hub, { body: { wrapKey: { suite: 'x25519', public: text } } });
    expect(pin).toEqual({ state: 'unusable', fingerprint: host.key.public.fingerprint });
    expect(hub.roll.get('agent-7')?.unusableKey).toBe(true);
    expect(counted('unusable_key')).toBe(1);
    expect((await host.beat(hub)).pin.state).toBe('pinned');
    expect(hub.roll.get('agent-7')?.unusableKey).toBe(false);
  });

  it('publishes one of a suite that nobody knows: unusable', async () => {
    const { pin } = await host.beat(hub, { body: { wrapKey: { ...published(host.key), suite: 'xwing' } } });
    expect(pin.state).toBe('unusable');
  });

  it('publishes none: the pin is kept', async () => {
    const { pin } = await host.beat(hub, { body: noKey });
    expect(pin).toEqual({ state: 'pinned', fingerprint: host.key.public.fingerprint });
  });

  it('whose pin cannot be read is answered 503, nothing is taken, and it is not “no pin”', async () => {
    hub.tamper(`update pins set anchor = 'operator' where host = 'agent-7'`);
    await hub.roll.reloadAll();
    expect(await codeOf(host.beat(hub))).toBe('unavailable');
    expect(await codeOf(host.beat(hub, { key: createWrapKey() }))).toBe('unavailable');
    hub.tamper(`update pins set anchor = 'enrolment' where host = 'agent-7'`);
    await hub.roll.reloadAll();
    expect((await host.beat(hub)).pin).toEqual({ state: 'pinned', fingerprint: host.key.public.fingerprint });
  });
});

describe('a host without a pin', () => {
  let host: TestHost;
  let bearer: string;
  beforeEach(async () => {
    host = await addExisting(hub, 'agent-7');
    bearer = thiefBearer(hub, 'agent-7', 1, 1);
  });

  it('publishes a key while first use is off: not accepted, remembered, and nothing is delivered', async () => {
    const { pin, deliveries } = await host.beat(hub, { bearer });
    expect([pin, deliveries]).toEqual([{ state: 'not_accepted' }, []]);
    expect(hub.roll.get('agent-7')?.pinState).toBe('none');
    expect(counted('not_accepted')).toBe(1);
  });

  it('publishes none: counted as an agent that is too old', async () => {
    expect((await host.beat(hub, { bearer, body: noKey })).pin).toEqual({ state: 'none' });
    expect(counted('agent_too_old')).toBe(1);
  });

  it('publishes one that is malformed: unusable', async () => {
    const { pin } = await host.beat(hub, { bearer, body: { wrapKey: { suite: 'x25519', public: 'x' } } });
    expect(pin).toEqual({ state: 'unusable' });
  });

  it('publishes the very key that first use was accepted for: pinned, and delivered its own keys alone', async () => {
    await host.beat(hub, { bearer });
    await hub.wall.advance(DAY_MS);
    await host.beat(hub, { bearer });
    await acceptFirstUse(
      hub,
      { on: true, exposed: 0, until: new Date(hub.wall.now() + DAY_MS).toISOString() },
      operator,
    );
    const thief = createWrapKey();
    expect((await host.beat(hub, { bearer, key: thief })).pin).toEqual({ state: 'not_accepted' });
    const { pin, deliveries } = await host.beat(hub, { bearer });
    expect(pin).toEqual({ state: 'pinned', fingerprint: host.key.public.fingerprint });
    expect(deliveries).toHaveLength(1);
    expect(Object.keys((host.assignment?.accept[0]?.value ?? {}) as object)).not.toContain('master');
    expect((await host.beat(hub, { bearer, key: thief })).pin.state).toBe('pending');
  });
});

describe('nobody', () => {
  it('who holds the master becomes a host that was only invited, or pins a key for it', async () => {
    await addHost(hub, { host: 'invited' }, operator);
    const thief = await enrolNew(hub, 'other');
    const bearer = thiefBearer(hub, 'invited', 1, 1);
    expect(await codeOf(Object.assign(thief, { id: 'invited' }).beat(hub, { bearer }))).toBe('unauthenticated');
    expect(hub.roll.get('invited')).toMatchObject({ status: 'invited', pinState: 'none' });
  });
});

describe('an approval', () => {
  it('that takes effect with a beat of the former life moves nothing of the new one: it must prove itself', async () => {
    const host = await enrolNew(hub, 'agent-7');
    const former = host.bearer();
    const key = createWrapKey();
    await approvePin(hub, 'agent-7', key.public.fingerprint, operator);
    // The key is published under the old bearer, and the answer with the new one is lost.
    await host.beat(hub, { key, lost: true });
    host.key = key;
    expect(hub.roll.get('agent-7')).toMatchObject({ life: 2, provenVersion: null });
    // So the old bearer must go on fetching.
    const { deliveries } = await host.beat(hub, { bearer: former });
    expect(deliveries).toHaveLength(1);
    await host.beat(hub);
    expect(hub.roll.get('agent-7')).toMatchObject({ life: 2, provenVersion: 1 });
    expect(await codeOf(host.beat(hub, { bearer: former }))).toBe('unauthenticated');
  });
});
