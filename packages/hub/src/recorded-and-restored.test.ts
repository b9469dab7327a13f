/** Yesterday once more: beats that were recorded, disks that were restored, and states that an operator put an end to. */
import { encodeBase64url } from '@rollcall/core/bytes';
import type { HeartbeatBody } from '@rollcall/wire';
import { beforeEach, describe, expect, it } from 'vitest';
import { createWrapKey, enrolNew, type TestHost, thiefBearer } from './host.fixture.ts';
import { codeOf, createTestHub, operator, type TestHub } from './hub.fixture.ts';
import { flushDirtyLiveness } from './jobs/flush-liveness.ts';
import { approvePin } from './operations/decide-pin.ts';
import { startRotation, stepMaster } from './operations/rotation/walk.ts';
import { resumeHost, suspendHost } from './operations/suspend-host.ts';
import { findPin } from './store/pins.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

describe('a beat that was recorded', () => {
  const replay = (of: TestHub, body: Partial<HeartbeatBody>) =>
    host.beat(of, { body, from: '203.0.113.9', lost: true, bearer: host.bearer() });

  it.each([
    ['and comes again', async (of: TestHub) => of],
    [
      'and comes again after a restart of the hub',
      async (of: TestHub) => {
        await flushDirtyLiveness(of);
        return of.restart();
      },
    ],
  ])('%s, moves nothing: no liveness, no address, no key', async (_when, pass) => {
    const junk = createWrapKey().public;
    const recorded = {
      instance: host.instance,
      seq: host.seq,
      wrapKey: { suite: 'x25519', public: encodeBase64url(junk.bytes) },
    };
    await host.beat(hub);
    const after = await pass(hub);
    await after.wall.advance(60_000);
    const seenAt = after.roll.get('agent-7')?.lastSeenAt;
    expect((await replay(after, recorded)).pin.state).toBe('pinned');
    expect(after.roll.get('agent-7')).toMatchObject({ lastSeenAt: seenAt, address: '192.0.2.1' });
    // The control: the next one of the same agent.
    expect((await host.beat(after, { from: '192.0.2.2' })).pin.state).toBe('pinned');
    expect(after.roll.get('agent-7')).toMatchObject({ lastSeenAt: after.wall.now(), address: '192.0.2.2' });
  });
});

describe('a disk that was restored', () => {
  it('gets again what it has lost, though it was proven before: else it would be cut off with the old generation', async () => {
    const yesterday = host.assignment;
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    while (await stepMaster(hub));
    for (let beat = 0; beat < 3; beat += 1) await host.beat(hub);
    expect(host.assignment?.present).toBe(2);
    expect((await host.beat(hub)).deliveries).toEqual([]);

    host.assignment = yesterday;
    host.newInstance();
    expect((await host.beat(hub)).deliveries).toHaveLength(1);
    expect(host.assignment).toMatchObject({ present: 2 });
    expect((await host.beat(hub)).deliveries).toEqual([]);
  });

  it('is not starved by whoever holds the master and says in its name that it holds everything', async () => {
    const key = createWrapKey();
    const former = host.bearer();
    await host.beat(hub, { key });
    await approvePin(hub, 'agent-7', key.public.fingerprint, operator);
    const { wantedEpoch: epoch = 0, wantedStep: step = 0 } = hub.roll.get('agent-7') ?? {};
    const thief = {
      bearer: thiefBearer(hub, 'agent-7', 2, 1),
      body: { held: { master: { epoch, step } } },
      lost: true,
    };
    await host.beat(hub, thief);
    host.key = key;
    // The host itself, which derives its bearer from the master as the thief does.
    expect((await host.beat(hub, { bearer: thief.bearer, key })).deliveries).toHaveLength(1);
    expect(await codeOf(host.beat(hub, { bearer: former }))).toBe('unauthenticated');
  });
});

describe('a suspended host', () => {
  it('stays suspended when its key is approved, and comes back with that key', async () => {
    const key = createWrapKey();
    const former = host.bearer();
    await host.beat(hub, { key });
    await suspendHost(hub, 'agent-7', operator);
    await approvePin(hub, 'agent-7', key.public.fingerprint, operator);
    expect(hub.roll.get('agent-7')).toMatchObject({ status: 'suspended', pinFingerprint: key.public.fingerprint });
    expect(await codeOf(host.beat(hub, { bearer: former }))).toBe('unauthenticated');
    expect((await findPin(hub.db, hub.vault, 'agent-7'))?.anchor).toBe('operator');
    await resumeHost(hub, 'agent-7', operator);
    host.key = key;
    await host.beat(hub, { bearer: former });
    expect((await host.beat(hub)).pin).toEqual({ state: 'pinned', fingerprint: key.public.fingerprint });
  });
});
