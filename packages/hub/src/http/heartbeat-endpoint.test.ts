/** A request with an old token that becomes no beat is counted as one that does: whoever sends it would miss the token (design 5). */
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enrolNew, type TestHost } from '../host.fixture.ts';
import { createTestHub, HOUR_MS, operator, START_MS, type TestHub } from '../hub.fixture.ts';
import { createSecret } from '../operations/create-secret.ts';
import { startRotation } from '../operations/rotation/walk.ts';
import { createFleetListener } from './fleet-listener.ts';
import { createTestTls } from './fleet-tls.fixture.ts';

const OLD = 'the-token-that-the-fleet-has-had-for-years';
const tls = createTestTls();

let hub: TestHub;
let host: TestHost;
let app: FastifyInstance;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
  await createSecret(hub, { name: 'fleet', value: encodeBase64url(utf8(OLD)), holders: ['caller:cron'] }, operator);
  await startRotation(hub, { secret: 'fleet', reason: 'planned', leave: [], narrowByMs: null }, operator);
  expect(quietForMs()).toBe(0);
  await hub.wall.advance(HOUR_MS);
  app = createFleetListener(hub, tls, async () => [], '1.2.3');
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => app.close());

const quietForMs = () => hub.clock.now() - hub.tokenHits.count('fleet', 1, hub.clock.now()).flatSinceMs;
const member = { 'x-node-token': OLD };
const ofHost = () => ({ ...member, authorization: `Bearer ${host.bearer()}`, 'x-rollcall-host': 'agent-7' });
const body = (changes: object = {}) =>
  JSON.stringify({
    instance: 'AAAAAAAAAAAAAAAAAAAAAA',
    seq: 1,
    held: {},
    refused: [],
    agent: { version: '0.9' },
    startup: 'fresh',
    sentAt: new Date(START_MS).toISOString(),
    ...changes,
  });

function beat(sent: string, credentials: Readonly<Record<string, string>>, type = 'application/json'): Promise<number> {
  const { port } = app.server.address() as AddressInfo;
  const headers = { 'content-type': type, ...credentials };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        method: 'POST',
        path: '/v1/heartbeat',
        headers,
        agent: false,
        rejectUnauthorized: false,
      },
      (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)),
    );
    request.on('error', reject);
    request.end(sent);
  });
}

it.each<[string, number, string, string?]>([
  ['the control, a beat', 200, body()],
  ['no JSON', 400, '{'],
  ['nothing', 400, ''],
  ['what an agent of another kind says', 400, JSON.stringify({ node: 'agent-7', free: 12 })],
  ['another type', 415, body(), 'text/plain'],
  ['more than it may be', 413, body({ pad: 'x'.repeat(limits.heartbeatBodyBytes) })],
])('%s, answered %i, is counted, alone and beside a bearer', async (_what, status, sent, type) => {
  for (const credentials of [member, ofHost()]) {
    expect([await beat(sent, credentials, type), quietForMs()]).toEqual([status, 0]);
    await hub.wall.advance(HOUR_MS);
  }
  // The control: with another token nobody is let in, and nothing is counted.
  expect([await beat(sent, { 'x-node-token': `${OLD}x` }, type), quietForMs()]).toEqual([401, HOUR_MS]);
});

it('and so is one that comes too often', async () => {
  const answered: number[] = [];
  for (let round = 0; round < 200 && answered.at(-1) !== 429; round += 1) answered.push(await beat(body(), member));
  expect(answered.at(-1)).toBe(429);
  const before = hub.tokenHits.count('fleet', 1, hub.clock.now()).count;
  expect(await beat(body(), member)).toBe(429);
  expect(hub.tokenHits.count('fleet', 1, hub.clock.now()).count).toBe(before + 1);
});
