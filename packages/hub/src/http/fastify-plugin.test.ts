/** The token guard of core on a real Fastify: here, since core has no dependencies, not even for its tests. */
import type { AddressInfo } from 'node:net';
import { createTokenVerifier, fastifyPlugin, type Guarded, type TokenVerifier } from '@rollcall/core/verify';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { rawRequest } from './raw-request.fixture.ts';

const current = `rcf_${'c'.repeat(40)}`;
const refusal = '{"error":"node token invalid"}';
let app: FastifyInstance;
let verifier: TokenVerifier;

afterEach(() => app.close());

async function start(register: (app: FastifyInstance) => void): Promise<number> {
  app = Fastify();
  verifier = createTokenVerifier({ current: { version: 4, value: current } });
  register(app);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

const echo = (request: unknown) => (request as Guarded).rollcall ?? 'nobody';

function everywhere(at: FastifyInstance): void {
  at.register(fastifyPlugin(verifier));
  at.get('/v1/host', echo);
  at.post('/v1/host', echo);
  at.get('/healthz', echo);
}

describe('registered on the root', () => {
  test('lets in who presents the token, says which version it was, and leaves open what is open', async () => {
    const port = await start(everywhere);
    expect(await rawRequest(port, '/v1/host', [['X-Node-Token', current]])).toMatchObject({
      status: 200,
      body: '{"version":4,"role":"current"}',
    });
    expect(await rawRequest(port, '/healthz?full', [])).toMatchObject({ status: 200, body: 'nobody' });
    expect(verifier.hits().current).toBe(1);
  });

  test.each<[string, readonly (readonly [string, string])[]]>([
    ['no token', []],
    ['an empty one', [['X-Node-Token', '']]],
    ['another one', [['X-Node-Token', 'x'.repeat(44)]]],
    [
      'the right one twice',
      [
        ['X-Node-Token', current],
        ['x-node-token', current],
      ],
    ],
  ])(
    'refuses %s with exactly the one answer, also where there is no route and where the body is none',
    async (_, headers) => {
      const port = await start(everywhere);
      const answers = [
        await rawRequest(port, '/v1/host', headers),
        await rawRequest(port, '/nowhere', headers),
        await rawRequest(port, '/healthz/', headers),
        await rawRequest(port, '/v1/host', [...headers, ['Content-Type', 'application/json']], '{"not json'),
      ];
      for (const { status, body, contentType } of answers) {
        expect([status, body, contentType]).toEqual([401, refusal, 'application/json']);
      }
      expect((await rawRequest(port, '/v1/host', [['X-Node-Token', current]])).status).toBe(200);
      expect((await rawRequest(port, '/nowhere', [['X-Node-Token', current]])).status).toBe(404);
    },
  );
});

test('registered in a part of an application, it guards that part', async () => {
  const port = await start((root) => {
    root.get('/public', echo);
    root.register(async (part) => {
      part.register(fastifyPlugin(verifier, { header: 'x-fleet-token', open: [] }));
      part.get('/private', echo);
      part.get('/healthz', echo);
    });
  });
  expect((await rawRequest(port, '/public', [])).status).toBe(200);
  expect((await rawRequest(port, '/private', [])).status).toBe(401);
  expect((await rawRequest(port, '/healthz', [])).status).toBe(401);
  expect((await rawRequest(port, '/private', [['X-Fleet-Token', current]])).status).toBe(200);
});

test('two of them stand side by side, each for its part', async () => {
  const other = `rcf_${'o'.repeat(40)}`;
  const port = await start((root) => {
    root.register(async (part) => {
      part.register(fastifyPlugin(verifier));
      part.get('/one', echo);
    });
    root.register(async (part) => {
      part.register(fastifyPlugin(createTokenVerifier({ current: { version: 1, value: other } })));
      part.get('/two', echo);
    });
  });
  expect((await rawRequest(port, '/one', [['X-Node-Token', current]])).status).toBe(200);
  expect((await rawRequest(port, '/one', [['X-Node-Token', other]])).status).toBe(401);
  expect((await rawRequest(port, '/two', [['X-Node-Token', other]])).status).toBe(200);
  expect((await rawRequest(port, '/two', [['X-Node-Token', current]])).status).toBe(401);
});
