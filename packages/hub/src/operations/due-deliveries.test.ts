import { encodeBase64url, encodeHex } from '@rollcall/core/bytes';
import { deriveSsoSeed, ed25519PublicKey } from '@rollcall/core/keys';
import { beforeEach, describe, expect, it } from 'vitest';
import { addExisting, createTestHost, createWrapKey, enrolNew, open, thiefBearer } from '../host.fixture.ts';
import { codeOf, createTestHub, DAY_MS, operator, type TestHub } from '../hub.fixture.ts';
import { acceptFirstUse } from './accept-first-use.ts';
import { addHost } from './add-host.ts';
import { approvePin } from './decide-pin.ts';
import { dueDeliveries } from './due-deliveries.ts';
import { startRotation, stepMaster } from './rotation/walk.ts';
import { suspendHost } from './suspend-host.ts';

let hub: TestHub;
beforeEach(async () => {
  hub = await createTestHub();
});

/** Starts a rotation, and lets it come to where `host` is switched. */
async function rotate(): Promise<void> {
  await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
  while (await stepMaster(hub));
}

const entryOf = (id: string) => hub.roll.get(id) ?? expect.fail(`${id} is not on the roll`);

describe('what is due', () => {
  it('is on every answer until it is proven, and on none afterwards', async () => {
    const host = await enrolNew(hub, 'agent-7');
    expect((await host.beat(hub)).deliveries).toEqual([]);
    await rotate();
    for (let beat = 0; beat < 3; beat += 1) expect((await host.beat(hub, { lost: true })).deliveries).toHaveLength(1);
    expect((await host.beat(hub)).deliveries).toHaveLength(1);
    expect(host.assignment).toMatchObject({ present: 2 });
    // Held, and not yet proven: reporting the step under the old bearer is no proof (I5).
    expect((await host.beat(hub, { version: 1 })).deliveries).toHaveLength(1);
    expect((await host.beat(hub)).deliveries).toEqual([]);
    expect((await host.beat(hub)).deliveries).toEqual([]);
  });

  it('is sealed anew at most once a minute', async () => {
    const host = await enrolNew(hub, 'agent-7');
    await rotate();
    const first = (await host.beat(hub, { lost: true })).deliveries;
    await hub.wall.advance(59_999);
    expect((await host.beat(hub, { lost: true })).deliveries).toEqual(first);
    await hub.wall.advance(1);
    const second = (await host.beat(hub, { lost: true })).deliveries;
    expect(second[0]?.enc).not.toBe(first[0]?.enc);
    expect(open(hub, host, first[0])).toEqual(open(hub, host, second[0]));
  });

  it('is nothing for a host that is not active', async () => {
    const host = await enrolNew(hub, 'agent-7');
    await rotate();
    expect(dueDeliveries(hub, entryOf('agent-7'), undefined)).toHaveLength(1);
    await suspendHost(hub, host.id, operator);
    expect(dueDeliveries(hub, entryOf('agent-7'), undefined)).toEqual([]);
  });

  it('is nothing for a host without a pin: there is no other way than sealed (I3)', async () => {
    await addHost(hub, { host: 'invited' }, operator);
    await addExisting(hub, 'existing');
    for (const id of ['invited', 'existing']) {
      expect(entryOf(id)).toMatchObject({ ackedStep: 0, wantedStep: 1 });
      expect(dueDeliveries(hub, entryOf(id), undefined)).toEqual([]);
    }
  });

  it('is an error, and not nothing, for a host whose pin cannot be read', async () => {
    const host = await enrolNew(hub, 'agent-7');
    await rotate();
    hub.tamper(`update pins set since = since + 1`);
    await hub.roll.reload('agent-7');
    expect(await codeOf(host.beat(hub))).toBe('unavailable');
    hub.tamper(`update pins set since = since - 1`);
    await hub.roll.reload('agent-7');
    expect((await host.beat(hub)).deliveries).toHaveLength(1);
  });
});

describe('a re-pin that is refused', () => {
  it('pin A: opens with A. B published: opens with A and not with B. B approved: with B and not with A', async () => {
    const host = await enrolNew(hub, 'agent-7');
    const [a, b] = [host.key, createWrapKey()];
    const opensWith = async (envelope: unknown) => [
      await codeOf(() => open(hub, host, envelope, a)),
      await codeOf(() => open(hub, host, envelope, b)),
    ];

    await rotate();
    const [first] = (await host.beat(hub)).deliveries;
    host.assignment = undefined;
    expect(await opensWith(first)).toEqual(['done', 'delivery_unknown_recipient']);
    open(hub, host, first);

    const old = thiefBearer(hub, 'agent-7', 1, 2);
    await host.beat(hub, { bearer: old, key: b, lost: true });
    await startRotation(hub, { secret: 'master', reason: 'leak', leave: ['agent-7'], narrowByMs: null }, operator);
    while (await stepMaster(hub));
    const [second] = (await host.beat(hub, { bearer: old, key: b, lost: true })).deliveries;
    expect(await opensWith(second)).toEqual(['done', 'delivery_unknown_recipient']);

    await approvePin(hub, 'agent-7', b.public.fingerprint, operator);
    const [third] = (await host.beat(hub, { bearer: old, key: b, lost: true })).deliveries;
    expect(await opensWith(third)).toEqual(['delivery_unknown_recipient', 'done']);
  });
});

describe('an envelope', () => {
  it('opens for exactly that host', async () => {
    const host = await enrolNew(hub, 'agent-7');
    await enrolNew(hub, 'agent-8');
    await rotate();
    const [envelope] = (await host.beat(hub, { lost: true })).deliveries;
    const other = Object.assign(createTestHost('agent-8'), { key: host.key });
    expect(await codeOf(() => open(hub, other, envelope))).toBe('delivery_other_host');
    expect(await codeOf(() => open(hub, other, { ...envelope, host: 'agent-8' }))).not.toBe('done');
    expect(await codeOf(() => open(hub, host, envelope))).toBe('done');
  });

  it.each(['host', 'secret', 'epoch', 'step', 'present', 'recipient', 'enc', 'ct', 'sig'] as const)(
    'does not open with another %s',
    async (field) => {
      const host = await enrolNew(hub, 'agent-7');
      await rotate();
      const [envelope] = (await host.beat(hub, { lost: true })).deliveries;
      const value = envelope?.[field] ?? '';
      const other = typeof value === 'number' ? value + 1 : `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`;
      expect(await codeOf(() => open(hub, host, { ...envelope, [field]: other }))).toMatch(/^delivery_/);
      expect(await codeOf(() => open(hub, host, envelope))).toBe('done');
    },
  );

  it('of an earlier step is a replay, and one of the step that is held is nothing', async () => {
    const host = await enrolNew(hub, 'agent-7');
    await rotate();
    const [earlier] = (await host.beat(hub)).deliveries;
    await host.beat(hub);
    expect(open(hub, host, earlier).kind).toBe('held');
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    while (await stepMaster(hub));
    await host.beat(hub);
    expect(await codeOf(() => open(hub, host, earlier))).toBe('delivery_replayed');
  });
});

describe('no answer', () => {
  it('holds a master, a derived key or a bearer in any form, and no payload holds the master', async () => {
    const host = await enrolNew(hub, 'agent-7');
    const existing = await addExisting(hub, 'existing');
    const bearer = thiefBearer(hub, 'existing', 1, 1);
    await existing.beat(hub, { bearer });
    await hub.wall.advance(DAY_MS);
    await Promise.all([host.beat(hub), existing.beat(hub, { bearer })]);
    await acceptFirstUse(
      hub,
      { on: true, exposed: 0, until: new Date(hub.wall.now() + DAY_MS).toISOString() },
      operator,
    );
    const answers = [await existing.beat(hub, { bearer })];
    await existing.beat(hub);
    await rotate();
    // The canary first, then the other.
    for (let round = 0; round < 2; round += 1) {
      for (const of of [host, existing]) answers.push(await of.beat(hub), await of.beat(hub));
      while (await stepMaster(hub));
    }

    const secrets = [1, 2].flatMap((version) => {
      const master = hub.generations.read(version).value.reveal();
      return [
        master,
        ...['agent-7', 'existing'].map((id) =>
          Buffer.from(thiefBearer(hub, id, 1, version).slice(4), 'base64url').subarray(0, 32),
        ),
      ];
    });
    const text = JSON.stringify(answers);
    for (const secret of secrets) {
      for (const form of [encodeBase64url(secret), encodeHex(secret), Buffer.from(secret).toString('base64')])
        expect(text).not.toContain(form);
    }
    expect(answers.flatMap(({ deliveries }) => deliveries)).toHaveLength(3);
    for (const of of [host, existing]) {
      for (const { version, value } of of.assignment?.accept ?? []) {
        expect(Object.keys(value).sort()).toEqual(['keys', 'life', 'sso']);
        const master = hub.generations.read(version).value.reveal();
        // Everyone may verify a single sign-on, and nobody but the hub may make one.
        expect('sso' in value && value.sso).toEqual([ed25519PublicKey(deriveSsoSeed(master))]);
        expect(JSON.stringify(value)).not.toContain(encodeBase64url(deriveSsoSeed(master)));
      }
      // The control: what was to be delivered is there.
      expect(of.bearer(2)).toBe(thiefBearer(hub, of.id, 1, 2));
    }
  });
});
