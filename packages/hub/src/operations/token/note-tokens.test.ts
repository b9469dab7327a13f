/** Whoever is let in with an old token is counted, whatever comes of the request: else a window would be quiet over him. */
import type { IncomingMessage } from 'node:http';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { beforeEach, expect, it } from 'vitest';
import { authenticateMember } from '../../authenticate.ts';
import { createWrapKey, enrolNew, type TestHost } from '../../host.fixture.ts';
import { codeOf, createTestHub, HOUR_MS, operator, type TestHub } from '../../hub.fixture.ts';
import { createSecret } from '../create-secret.ts';
import { approvePin } from '../decide-pin.ts';
import { startRotation } from '../rotation/walk.ts';
import { receiveDeclaredBeat } from './receive-declared-beat.ts';

const OLD = 'the-token-that-the-fleet-has-had-for-years';
let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
  await createSecret(hub, { name: 'fleet', value: encodeBase64url(utf8(OLD)), holders: ['caller:cron'] }, operator);
  await startRotation(hub, { secret: 'fleet', reason: 'planned', leave: [], narrowByMs: null }, operator);
  expect(quietForMs()).toBe(0);
  await hub.wall.advance(HOUR_MS);
});

const quietForMs = () => hub.clock.now() - hub.tokenHits.count('fleet', 1, hub.clock.now()).flatSinceMs;
const beat = (body: Parameters<TestHost['beat']>[1] = {}) => codeOf(host.beat(hub, { tokens: [OLD], ...body }));

it('the control: who sends none, or sends the new version, is not', async () => {
  const NEW = Buffer.from(hub.tokens.read('fleet', 2).reveal()).toString();
  expect([await beat({ tokens: [] }), await beat({ tokens: [NEW] }), quietForMs()]).toEqual(['done', 'done', HOUR_MS]);
  expect([await beat(), quietForMs()]).toEqual(['done', 0]);
});

it('a program of a host that says the same with every beat', async () => {
  for (let round = 0; round < 3; round += 1) {
    await hub.wall.advance(HOUR_MS);
    expect([await beat({ body: { seq: 1 } }), quietForMs()]).toEqual(['done', 0]);
  }
});

it('a host of the life before, which an operator has ended', async () => {
  const former = host.bearer();
  const key = createWrapKey();
  await host.beat(hub, { key, tokens: [] });
  await approvePin(hub, 'agent-7', key.public.fingerprint, operator);
  await hub.wall.advance(HOUR_MS);
  expect([await beat({ bearer: former, lost: true }), quietForMs()]).toEqual(['done', 0]);
});

it('one that names another host than it is, or than it has said', async () => {
  expect([await beat({ body: { host: 'agent-8' } }), quietForMs()]).toEqual(['host_mismatch', 0]);
  await hub.wall.advance(HOUR_MS);
  const rawHeaders = ['X-Node-Token', OLD, 'X-Rollcall-Host', 'agent-7'];
  const who = await authenticateMember(hub, { rawHeaders } as IncomingMessage, 'heartbeat');
  const sentAt = new Date(hub.wall.now()).toISOString();
  const body = { instance: 'AAAAAAAAAAAAAAAAAAAAAA', seq: 1, held: {}, refused: [], sentAt, host: 'agent-8' };
  const declared = { ...body, agent: { version: '0.9' }, startup: 'fresh' as const };
  const from = { from: '192.0.2.9', userAgent: 'cron/1' };
  expect(await codeOf(receiveDeclaredBeat(hub, { who, body: declared, ...from }))).toBe('host_mismatch');
  expect(quietForMs()).toBe(0);
});
