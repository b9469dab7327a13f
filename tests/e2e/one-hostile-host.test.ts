/** Whoever has the bearer of one host can harm that host's fields for a while, and nobody else's anything. */
import { encodeBase64url } from '@rollcall/core/bytes';
import { generateWrapKey } from '@rollcall/core/seal';
import type { PendingPin } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { createRawHost, enrolRawHost, random } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet();

describe('a bearer of one host in other hands', () => {
  it('holds up no other host, no start of a rotation, and not the host itself', async () => {
    const host = await enrolRawHost(fleet(), 'web-1');
    const other = await enrolRawHost(fleet(), 'web-2');
    const thief = createRawHost(fleet(), 'web-1', random(32), host.bearer());
    const rolledBefore = await fleet().host('web-2');

    // Keys by the hundred, keys that are none, times, versions and instances out of the air.
    for (let beat = 0; beat < 200; beat += 1) {
      expect((await thief.beat({ wrapKey: generateWrapKey(random) })).status).toBe(200);
    }
    for (const key of [
      '',
      'AAAA',
      encodeBase64url(new Uint8Array(32)),
      encodeBase64url(random(32)),
      'x'.repeat(4_000),
    ]) {
      const answer = await thief.beat({ wrapKey: { suite: 'x25519', public: key } });
      expect([answer.status, answer.json()['deliveries']]).toEqual([200, []]);
    }
    for (let start = 0; start < 50; start += 1) {
      thief.restart();
      await thief.beat({
        body: {
          sentAt: '2035-01-01T00:00:00.000Z',
          held: { master: { epoch: 999, step: 999 } },
          refused: [{ secret: 'master', reason: 'delivery_unopenable' }],
        },
      });
    }

    const { pending } = await fleet().ask<{ pending: PendingPin[] }>('GET', '/v1/pins');
    expect(pending.length).toBeLessThanOrEqual(4);
    expect(new Set(pending.map(({ host: id }) => id))).toEqual(new Set(['web-1']));
    expect(await fleet().host('web-1')).toMatchObject({
      life: 1,
      pin: { fingerprint: host.wrapKey.public.fingerprint },
      proven: { master: { version: 1 } },
    });
    const { lastSeenAt: _now, ...rest } = await fleet().host('web-2');
    const { lastSeenAt: _then, ...restBefore } = rolledBefore;
    expect(rest).toEqual(restBefore);

    // The rotation starts, the other comes along, and so does the true host: the thief can open nothing of it.
    const started = await fleet().rollcall('rotation', 'start', 'master', '--json');
    expect([started.code, started.stderr]).toEqual([0, '']);
    const comesAlong = (at: typeof host) =>
      fleet().waitUntil(`${at.id} has proven the new version`, async () => {
        await thief.beat({ body: { refused: [{ secret: 'master', reason: 'delivery_unopenable' }] } });
        await at.settle();
        return (await fleet().host(at.id)).proven['master']?.version === 2;
      });
    await comesAlong(other);
    await comesAlong(host);
    expect((await host.beat()).json()['pin']).toMatchObject({ state: 'pinned' });
  });

  it('names nobody else: an id elsewhere in the request is compared, and refused when it is another', async () => {
    const host = await enrolRawHost(fleet(), 'web-3');
    const refused = await host.beat({ body: { host: 'web-2' } });
    expect([refused.status, refused.json()['code']]).toEqual([403, 'host_mismatch']);
    expect((await host.beat({ body: { host: 'web-3' } })).status).toBe(200);
  });

  it('is answered as usual when it replays a beat, and changes nothing', async () => {
    const host = await enrolRawHost(fleet(), 'web-4');
    const body = { instance: encodeBase64url(random(16)), seq: 7 };
    expect((await host.beat({ body })).status).toBe(200);
    const replayed = await host.beat({ body, wrapKey: generateWrapKey(random) });
    expect([replayed.status, replayed.json()['pin']]).toMatchObject([200, { state: 'pinned' }]);
    expect((await fleet().host('web-4')).pending).toBe(false);
    // The control: the same publication in a beat that rises is seen.
    await host.beat({ body: { ...body, seq: 8 }, wrapKey: generateWrapKey(random) });
    expect((await fleet().host('web-4')).pending).toBe(true);
  });
});
