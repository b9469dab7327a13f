import { beforeEach, describe, expect, it } from 'vitest';
import { addExisting, createWrapKey, enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, operator, type TestHub } from '../hub.fixture.ts';
import { findPendings, findPin } from '../store/pins.ts';
import { acceptFirstUse } from './accept-first-use.ts';
import { addHost } from './add-host.ts';
import { approvePin, confirmPin, rejectPin } from './decide-pin.ts';
import { evictHost } from './end-host.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

const actions = async () => (await auditOf(hub)).filter((line) => line.startsWith('pin.'));

describe('approve', () => {
  it('of a key that is pending takes it at once: the life rises, its pendings are gone, the former key’s bearer only fetches', async () => {
    const former = host.bearer();
    const key = createWrapKey();
    await host.beat(hub, { key });
    const answer = await approvePin(hub, 'agent-7', key.public.fingerprint, operator);
    expect(answer).toEqual({
      host: 'agent-7',
      effect: 'taken',
      life: 2,
      pin: { fingerprint: key.public.fingerprint, anchor: 'operator' },
    });
    expect(await findPendings(hub.db, hub.vault, 'agent-7')).toEqual([]);
    const seenAt = hub.roll.get('agent-7')?.lastSeenAt;
    await hub.wall.advance(1_000);
    // Yesterday's disk: its bearer gets an envelope that its key does not open, and moves nothing.
    const { deliveries, pin } = await host.beat(hub, { bearer: former, lost: true });
    expect([deliveries.length, pin.fingerprint]).toEqual([1, key.public.fingerprint]);
    expect(hub.roll.get('agent-7')?.lastSeenAt).toBe(seenAt);
    host.key = key;
    await host.beat(hub, { bearer: former });
    await host.beat(hub);
    expect(await codeOf(host.beat(hub, { bearer: former }))).toBe('unauthenticated');
    expect(await actions()).toEqual(['pin.challenged agent-7 refused', 'pin.approved agent-7 done']);
  });

  it.each<[string, (fingerprint: string) => string, string]>([
    ['a wrong one is remembered, and takes nothing', () => 'ab'.repeat(32), 'done'],
    [
      'one digit off',
      (fingerprint) => `${fingerprint.slice(0, -1)}${fingerprint.endsWith('0') ? '1' : '0'}`,
      'fingerprint_mistyped',
    ],
    ['the first half', (fingerprint) => fingerprint.slice(0, 32), 'malformed_fingerprint'],
    ['in upper case', (fingerprint) => fingerprint.toUpperCase(), 'malformed_fingerprint'],
    ['nothing', () => '', 'malformed_fingerprint'],
  ])('with a fingerprint that is not that of the host: %s', async (_what, change, code) => {
    const key = createWrapKey();
    await host.beat(hub, { key });
    expect(await codeOf(approvePin(hub, 'agent-7', change(key.public.fingerprint), operator))).toBe(code);
    expect(hub.roll.get('agent-7')).toMatchObject({ life: 1, pinFingerprint: host.key.public.fingerprint });
    await approvePin(hub, 'agent-7', key.public.fingerprint, operator);
    expect(hub.roll.get('agent-7')).toMatchObject({ life: 2, pinFingerprint: key.public.fingerprint });
  });

  it('of the pin itself is refused, of an unknown or an invited or an evicted host too', async () => {
    const { fingerprint } = createWrapKey().public;
    await addHost(hub, { host: 'invited' }, operator);
    expect(await codeOf(approvePin(hub, 'agent-7', host.key.public.fingerprint, operator))).toBe('pin_unchanged');
    expect(await codeOf(approvePin(hub, 'nobody', fingerprint, operator))).toBe('host_unknown');
    expect(await codeOf(approvePin(hub, 'invited', fingerprint, operator))).toBe('host_not_enrolled');
    expect(await codeOf(approvePin(hub, 'agent-7', fingerprint, operator))).toBe('done');
    await evictHost(hub, 'agent-7', false, operator);
    expect(await codeOf(approvePin(hub, 'agent-7', fingerprint, operator))).toBe('host_not_enrolled');
  });

  it('of the key of a host without a pin pins it in its present life', async () => {
    const older = await addExisting(hub, 'older');
    const bearer = thiefBearer(hub, 'older', 1, 1);
    await older.beat(hub, { bearer });
    const answer = await approvePin(hub, 'older', older.key.public.fingerprint, operator);
    expect(answer).toMatchObject({ effect: 'taken', life: 1, pin: { anchor: 'operator' } });
    await older.beat(hub, { bearer });
    expect(await codeOf(older.beat(hub))).toBe('done');
  });

  it('is refused while the clock of the hub jumped', async () => {
    const key = createWrapKey();
    await host.beat(hub, { key });
    hub.wall.setWall(hub.wall.now() + DAY_MS);
    expect(await codeOf(approvePin(hub, 'agent-7', key.public.fingerprint, operator))).toBe('hub_time_jumped');
    expect(hub.roll.get('agent-7')?.pinFingerprint).toBe(host.key.public.fingerprint);
  });
});

describe('confirm', () => {
  it('makes a first-use pin an operator’s, by its whole fingerprint only', async () => {
    const older = await addExisting(hub, 'older');
    const bearer = thiefBearer(hub, 'older', 1, 1);
    await older.beat(hub, { bearer });
    await hub.wall.advance(DAY_MS);
    await Promise.all([older.beat(hub, { bearer }), host.beat(hub)]);
    await acceptFirstUse(
      hub,
      { on: true, exposed: 0, until: new Date(hub.wall.now() + DAY_MS).toISOString() },
      operator,
    );
    await older.beat(hub, { bearer });
    const anchor = async () => (await findPin(hub.db, hub.vault, 'older'))?.anchor;
    expect(await anchor()).toBe('first-use');
    expect(await codeOf(confirmPin(hub, 'older', host.key.public.fingerprint, operator))).toBe('fingerprint_mismatch');
    expect(await codeOf(confirmPin(hub, 'older', older.key.public.fingerprint.slice(0, 16), operator))).toBe(
      'malformed_fingerprint',
    );
    expect(await anchor()).toBe('first-use');
    expect((await confirmPin(hub, 'older', older.key.public.fingerprint, operator)).effect).toBe('confirmed');
    expect(await anchor()).toBe('operator');
    expect(hub.roll.get('older')).toMatchObject({ life: 1 });
  });

  it('of a pin that was trusted on more already changes nothing', async () => {
    expect((await confirmPin(hub, 'agent-7', host.key.public.fingerprint, operator)).effect).toBe('already_confirmed');
    expect((await findPin(hub.db, hub.vault, 'agent-7'))?.anchor).toBe('enrolment');
    expect(await actions()).toEqual([]);
  });
});

describe('reject', () => {
  it('drops that pending change and no other, and withdraws its approval', async () => {
    const [one, two] = [createWrapKey(), createWrapKey()];
    await host.beat(hub, { key: one });
    await host.beat(hub, { key: two });
    await rejectPin(hub, 'agent-7', one.public.fingerprint, operator);
    expect((await findPendings(hub.db, hub.vault, 'agent-7')).map(({ fingerprint }) => fingerprint)).toEqual([
      two.public.fingerprint,
    ]);
    expect(await codeOf(rejectPin(hub, 'agent-7', one.public.fingerprint, operator))).toBe('pin_not_pending');

    const unseen = createWrapKey();
    await approvePin(hub, 'agent-7', unseen.public.fingerprint, operator);
    await rejectPin(hub, 'agent-7', unseen.public.fingerprint, operator);
    expect((await host.beat(hub, { key: unseen })).pin.state).toBe('pending');
    expect(hub.roll.get('agent-7')?.pinFingerprint).toBe(host.key.public.fingerprint);
  });
});
