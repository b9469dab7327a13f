import type { IncomingMessage } from 'node:http';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import type { HeartbeatBody } from '@rollcall/wire';
import { beforeEach, expect, it } from 'vitest';
import { authenticateMember } from '../../authenticate.ts';
import { addExisting, enrolNew } from '../../host.fixture.ts';
import { codeOf, createTestHub, operator, type TestHub } from '../../hub.fixture.ts';
import { listHostRows } from '../../views/hosts.ts';
import { addHost } from '../add-host.ts';
import { createSecret } from '../create-secret.ts';
import { startRotation } from '../rotation/walk.ts';
import { receiveDeclaredBeat } from './receive-declared-beat.ts';

const TOKEN = 'the-token-that-the-fleet-has-had-for-years';
const body: HeartbeatBody = {
  instance: 'AAAAAAAAAAAAAAAAAAAAAA',
  seq: 1,
  held: {},
  refused: [],
  agent: { version: '0.9.0' },
  startup: 'fresh',
  sentAt: '2026-03-01T12:00:00.000Z',
};
let hub: TestHub;
beforeEach(async () => {
  hub = await createTestHub();
  await createSecret(hub, { name: 'fleet', value: encodeBase64url(utf8(TOKEN)), holders: ['caller:old'] }, operator);
});

async function beatAs(host: string, changes: Partial<HeartbeatBody> = {}, token = TOKEN) {
  const rawHeaders = ['X-Node-Token', token, 'X-Rollcall-Host', host];
  const who = await authenticateMember(hub, { rawHeaders } as IncomingMessage, 'heartbeat');
  const answer = await receiveDeclaredBeat(hub, {
    who,
    body: { ...body, ...changes },
    from: '192.0.2.9',
    userAgent: 'old/1',
  });
  return JSON.parse(answer) as { pin: { state: string }; deliveries: unknown[] };
}

const rowOf = async (id: string) => (await listHostRows(hub)).find((row) => row.id === id);

it('moves the liveness of a host that has nothing better, and says by which rung', async () => {
  await addExisting(hub, 'old-1');
  expect(await rowOf('old-1')).toMatchObject({ fresh: false, rung: null });
  expect(await beatAs('old-1')).toMatchObject({ pin: { state: 'none' }, deliveries: [] });
  expect(await rowOf('old-1')).toMatchObject({ fresh: true, rung: 'fleet-token', flags: [] });
  expect(await codeOf(beatAs('old-1', {}, `${TOKEN}x`))).toBe('unauthenticated');
});

it('moves nothing of a host that was ever known by a credential of its own, and is counted and shown', async () => {
  const host = await enrolNew(hub, 'agent-7');
  const before = { ...(await rowOf('agent-7')) };
  await hub.wall.advance(120_000);
  expect((await rowOf('agent-7'))?.fresh).toBe(false);
  await beatAs('agent-7', { wrapKey: { suite: 'x25519', public: encodeBase64url(new Uint8Array(32).fill(9)) } });
  expect(await rowOf('agent-7')).toMatchObject({
    fresh: false,
    lastSeenAt: before.lastSeenAt,
    rung: before.rung,
    pin: before.pin,
    pending: false,
    flags: expect.arrayContaining(['lower_rung_seen']),
  });
  expect(hub.counts.read('instances').get('lower_rung')).toBe(1);
  await host.beat(hub);
  expect((await rowOf('agent-7'))?.fresh).toBe(true);
});

it('moves nothing of a host that is invited, suspended or on no roll, and takes no other name from the body', async () => {
  await addHost(hub, { host: 'new-1' }, operator);
  await beatAs('new-1');
  expect(await rowOf('new-1')).toMatchObject({ status: 'invited', fresh: false, rung: null });
  expect(await beatAs('nobody')).toMatchObject({ deliveries: [] });
  expect(await codeOf(beatAs('new-1', { host: 'agent-7' }))).toBe('host_mismatch');
  expect(await codeOf(beatAs('new-1', { host: 'new-1' }))).toBe('done');
});

it('proves no name to whoever looks who sent it; a bearer beside the token does, and no report of a host', async () => {
  const host = await enrolNew(hub, 'agent-7');
  // What a listener says is kept while the version goes.
  await startRotation(hub, { secret: 'fleet', reason: 'planned', leave: [], narrowByMs: null }, operator);
  const sources = () => hub.tokenHits.sources('fleet', 1).map(({ host: name, proven }) => [name, proven]);
  await beatAs('agent-8');
  expect(sources()).toEqual([['agent-8', undefined]]);
  const sample = { at: body.sentAt, address: '192.0.2.7', userAgent: 'x', route: '/', host: 'agent-9', version: 1 };
  const lie = { ...sample, proven: true };
  const tokens = [{ secret: 'fleet', counter: 'A'.repeat(22), hits: [{ version: 1, count: 1 }], samples: [lie] }];
  await host.beat(hub, { tokens: [TOKEN], body: { tokens } });
  expect(sources()).toEqual([
    ['agent-7', true],
    ['agent-8', undefined],
  ]);
  const [said] = hub.tokenReports.of('agent-7').sources;
  expect(said).toMatchObject({ host: 'agent-9', address: '192.0.2.7' });
  expect(said).not.toHaveProperty('proven');
});
