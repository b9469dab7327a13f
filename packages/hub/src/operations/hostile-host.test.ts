/** What one host can do to the hub with what it says: to its disk, its memory, and to what is stored for all hosts together. */
import { encodeBase64url } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import type { HeartbeatBody } from '@rollcall/wire';
import { beforeEach, expect, it } from 'vitest';
import { createTestHost, createWrapKey, enrolNew, type TestHost } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, operator, type TestHub } from '../hub.fixture.ts';
import { flushDirtyLiveness } from '../jobs/flush-liveness.ts';
import { addHost } from './add-host.ts';
import { enrolHost } from './enrol-host.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

async function storedSkewOf(id: string): Promise<number | undefined> {
  const row = await hub.db.selectFrom('liveness').select('skew_ms').where('host', '=', id).executeTakeFirst();
  return row?.skew_ms;
}

it.each(['2026-99-99T99:99:99Z', '0000-00-00T:Z', '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z'])(
  'a time that is none, or far away, stops nobody’s liveness from being stored: %s',
  async (sentAt) => {
    const other = await enrolNew(hub, 'agent-8');
    await host.beat(hub, { body: { sentAt } });
    await other.beat(hub, { body: { sentAt: new Date(hub.wall.now() + 5_000).toISOString() } });
    await flushDirtyLiveness(hub);
    expect(await storedSkewOf('agent-8')).toBe(5_000);
    expect(Number.isSafeInteger(await storedSkewOf('agent-7'))).toBe(true);
  },
);

it('ten thousand wrap keys cost four rows and four records, and the true key goes on', async () => {
  const before = (await auditOf(hub)).length;
  for (let count = 0; count < 10_000; count += 1) {
    const answer = await host.beat(hub, { key: createWrapKey() });
    if (count % 1_000 === 0) expect(answer.pin.state).toBe('pending');
  }
  expect((await auditOf(hub)).length - before).toBe(limits.pendingPinsPerHost);
  expect(await hub.db.selectFrom('pending_pins').selectAll().execute()).toHaveLength(limits.pendingPinsPerHost);
  expect(hub.roll.get('agent-7')?.pendingBeats.size).toBe(limits.pendingPinsPerHost);
  expect((await host.beat(hub)).pin).toEqual({ state: 'pinned', fingerprint: host.key.public.fingerprint });
}, 120_000);

it('a thousand instances are remembered as a few, and alert once', async () => {
  const before = (await auditOf(hub)).length;
  const [one, two] = [1, 2].map((byte) => encodeBase64url(new Uint8Array(16).fill(byte)));
  for (let seq = 1; seq <= 500; seq += 1) {
    for (const instance of [one, two]) await host.beat(hub, { body: { instance, seq } as Partial<HeartbeatBody> });
    host.newInstance();
    await host.beat(hub);
  }
  expect(hub.roll.get('agent-7')?.instances.superseded.length).toBeLessThanOrEqual(limits.supersededInstances);
  expect((await auditOf(hub)).length - before).toBeLessThanOrEqual(1);
});

it('a spent token is recorded once in ten minutes, however often it is presented', async () => {
  const { token = '' } = await addHost(hub, { host: 'agent-9' }, operator);
  await createTestHost('agent-9').enrol(hub, token);
  const thief = createTestHost('agent-9');
  const reuse = () => codeOf(enrolHost(hub, thief.enrolBody(token), '192.0.2.9'));
  const recorded = async () => (await auditOf(hub)).filter((line) => line.startsWith('host.enrolment_token_reused'));
  const before = (await hub.db.selectFrom('audit').selectAll().execute()).length;
  for (let count = 0; count < 200; count += 1) expect(await reuse()).toBe('unauthenticated');
  expect(await recorded()).toHaveLength(1);
  await hub.wall.advance(limits.tokenReuseAlertMs);
  expect(await reuse()).toBe('unauthenticated');
  expect(await recorded()).toHaveLength(2);
  expect((await hub.db.selectFrom('audit').selectAll().execute()).length - before).toBe(2);
  expect(hub.logged.filter((line) => line.startsWith('warn a spent enrolment token'))).toHaveLength(2);
});
