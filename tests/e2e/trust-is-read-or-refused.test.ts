/** Unreadable is not absent (I10), and everyone on the roll is asked (I6): what an operator's gates rest on. */

import type { JsonValue } from '@rollcall/core/json';
import { generateWrapKey, openDelivery } from '@rollcall/core/seal';
import type { HostRow, ReadinessAnswer } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { exchange } from './harness/exchange.ts';
import { readHubRootFile, readToken } from './harness/fleet.ts';
import { bearerOf, createRawHost, enrolRawHost, random, randomMaster } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet({ master: randomMaster() });
const readiness = () => fleet().ask<ReadinessAnswer>('GET', '/v1/readiness');
const readyz = async () =>
  (await exchange({ port: fleet().port }, { method: 'GET', path: '/readyz' }, fleet().recorder)).status;
const start = (...flags: readonly string[]) => fleet().rollcall('rotation', 'start', 'master', '--json', ...flags);

describe('readiness over the whole roll', () => {
  it('is not given by a roll of nobody, nor past an invited host; and is given when everyone is pinned and proven', async () => {
    expect(await readiness()).toMatchObject({ ready: false, examined: 0 });
    expect((await fleet().rollcall('hub', 'readiness', '--json')).code).toBe(3);

    const host = await enrolRawHost(fleet(), 'web-1');
    expect(await readiness()).toMatchObject({ ready: true, examined: 1, problems: [] });
    expect((await fleet().rollcall('hub', 'readiness', '--json')).code).toBe(0);

    const token = await fleet().addHost('web-2');
    expect(await readiness()).toMatchObject({ ready: false, examined: 2, hostsWithoutUsablePin: 1 });
    const refused = await start();
    expect([refused.code, refused.stderr]).toMatchObject([3, expect.stringContaining('hosts_without_pin')]);
    expect(refused.stderr + refused.stdout).toContain('web-2');

    // A pin that a removed host leaves behind does not stand in for the one that is missing.
    await enrolRawHost(fleet(), 'web-3');
    await fleet().ask('POST', '/v1/hosts/web-3/remove');
    expect(await readiness()).toMatchObject({ ready: false, examined: 2, hostsWithoutUsablePin: 1 });
    expect((await start()).code).toBe(3);

    const other = createRawHost(fleet(), 'web-2', readToken(token).root);
    await other.enrol(token);
    expect(await readiness()).toMatchObject({ hostsWithoutUsablePin: 0, hostsNotProvenOnCurrent: 1 });
    await other.settle();
    expect(await readiness()).toMatchObject({ ready: true, examined: 2, hostsNotProvenOnCurrent: 0 });

    expect((await start()).code).toBe(0);
    // In the open window, and as long as one host has not come along, retiring is not safe.
    await fleet().waitUntil('web-1 has come along', async () => {
      await host.settle();
      return (await fleet().host('web-1')).proven['master']?.version === 2;
    });
    expect(await readiness()).toMatchObject({
      safeToRetire: { master: false },
      retireNow: { master: false },
      hostsNotProvenOnCurrent: 1,
    });
    const stranding = await fleet().rollcall('rotation', 'retire', '--now', '--yes', '--json');
    expect([stranding.code, stranding.stderr]).toMatchObject([3, expect.stringContaining('would_strand')]);
    await fleet().waitUntil('web-2 has come along', async () => {
      await other.settle();
      return (await readiness()).retireNow['master'] === true;
    });
    expect((await fleet().rollcall('rotation', 'retire', '--now', '--yes', '--json')).code).toBe(0);
    for (const at of [host, other]) await at.settle();
    await fleet().waitUntil('it is done', async () => (await fleet().rotation()).rotation.phase === 'done');
    expect((await readiness()).ready).toBe(true);
  });
});

describe('what is sealed', () => {
  it('opens for that host, that version and that epoch alone, even where two hosts share a wrap key', async () => {
    const shared = generateWrapKey(random);
    const [x, y] = await Promise.all(
      ['twin-x', 'twin-y'].map(async (id) => {
        const token = await fleet().addHost(id);
        const host = createRawHost(fleet(), id, readToken(token).root);
        host.wrapKey = shared;
        const answer = await host.enrol(token, { applies: false });
        return { host, envelope: answer.json<{ deliveries: Record<string, JsonValue>[] }>().deliveries[0] ?? {} };
      }),
    );
    if (x === undefined || y === undefined) throw new Error('no twins');
    const open = (host: string, envelope: JsonValue) =>
      openDelivery(envelope, {
        host,
        wrapKeys: [shared],
        held: () => undefined,
        hubRoot: readHubRootFile(fleet()).root,
        highestSerial: 0,
      });
    const number = (name: string) => Number(x.envelope[name]);
    const altered: readonly (readonly [string, string, JsonValue, string])[] = [
      ['for Y', 'twin-y', x.envelope, 'delivery_other_host'],
      ['relabelled for Y', 'twin-y', { ...x.envelope, host: 'twin-y' }, 'delivery_bad_signature'],
      ['as the version before', 'twin-x', { ...x.envelope, present: number('present') - 1 }, 'delivery_bad_signature'],
      ['in the next epoch', 'twin-x', { ...x.envelope, epoch: number('epoch') + 1 }, 'delivery_bad_signature'],
      ['as the next step', 'twin-x', { ...x.envelope, step: number('step') + 1 }, 'delivery_bad_signature'],
      ['as another secret', 'twin-x', { ...x.envelope, secret: 'masters' }, 'delivery_bad_signature'],
    ];
    for (const [name, host, envelope, code] of altered) {
      expect(() => open(host, envelope), name).toThrow(expect.objectContaining({ code }));
    }
    expect(open('twin-x', x.envelope)).toMatchObject({ kind: 'new' });
    expect(open('twin-y', y.envelope)).toMatchObject({ kind: 'new' });
    for (const { host } of [x, y]) await fleet().ask('POST', `/v1/hosts/${host.id}/remove`);
  });

  it('is derived from the generation that is in the store at that moment', async () => {
    const masters = fleet().store().masters();
    const current = [...masters.keys()].at(-1) ?? 0;
    expect(current).toBe(2);
    const host = await enrolRawHost(fleet(), 'fresh-1');
    expect(host.held?.present).toBe(current);
    expect(host.bearer()).toBe(bearerOf(masters.get(current) ?? random(32), 'fresh-1', 1));
    await fleet().ask('POST', '/v1/hosts/fresh-1/remove');
  });
});

describe('a pin that cannot be read', () => {
  it('blocks deliveries, publications and readiness; it is never "no pin"; mended, it is the pin that it was', async () => {
    const host = await enrolRawHost(fleet(), 'db-1');
    const other = await enrolRawHost(fleet(), 'db-2');
    expect([await readyz(), (await readiness()).ready]).toEqual([200, true]);
    const store = fleet().store();
    const [row] = store.rows<{ public: Buffer }>("select public from pins where host = 'db-1'");
    if (row === undefined) throw new Error('no pin');
    const flipped = Buffer.from(row.public);
    flipped[7] = (flipped[7] ?? 0) ^ 1;
    store.run("update pins set public = ? where host = 'db-1'", flipped);

    // Seen at once by whoever asks the store, and by the whole hub from its next start.
    expect(await readyz()).toBe(503);
    expect((await fleet().rollcall('hub', 'readiness', '--json')).json<ReadinessAnswer>()).toMatchObject({
      ready: false,
      problems: expect.arrayContaining([expect.objectContaining({ code: 'pin_store' })]),
    });
    expect((await start()).code).toBe(3);
    await fleet().hub().kill('SIGTERM');
    await fleet().startHub();
    expect(await readyz()).toBe(503);

    for (const wrapKey of [host.wrapKey, generateWrapKey(random), null]) {
      const answer = await host.beat({ wrapKey });
      expect([answer.status, answer.json()['code']]).toEqual([503, 'unavailable']);
    }
    const { hosts } = await fleet().ask<{ hosts: HostRow[] }>('GET', '/v1/hosts');
    expect(hosts.find(({ id }) => id === 'db-1')).toMatchObject({ pending: false, flags: ['unreadable'] });
    expect(store.rows("select * from pending_pins where host = 'db-1'")).toEqual([]);
    // The control: the others are served.
    expect((await other.beat()).status).toBe(200);

    store.run("update pins set public = ? where host = 'db-1'", row.public);
    await fleet().hub().kill('SIGTERM');
    await fleet().startHub();
    expect(await readyz()).toBe(200);
    expect((await host.beat()).json()['pin']).toEqual({
      state: 'pinned',
      fingerprint: host.wrapKey.public.fingerprint,
    });
  });

  it('is not taken from a row that someone wrote who has the database and not its key', async () => {
    const host = await enrolRawHost(fleet(), 'db-3');
    const thief = generateWrapKey(random);
    const store = fleet().store();
    store.run(
      "update pins set public = ?, fingerprint = ? where host = 'db-3'",
      Buffer.from(thief.public.bytes),
      thief.public.fingerprint,
    );
    await fleet().hub().kill('SIGTERM');
    await fleet().startHub();
    expect((await host.beat({ wrapKey: thief })).status).toBe(503);
    expect(await readyz()).toBe(503);
  });
});
