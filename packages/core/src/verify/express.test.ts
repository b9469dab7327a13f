import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type Request, type Response } from 'express';
import { afterEach, expect, test } from 'vitest';
import { call, current, refusedHeaders, widenedVerifier } from './guard.fixture.ts';
import type { Guarded } from './guard.ts';
import { nodeMiddleware } from './node-middleware.ts';

let server: Server | undefined;

afterEach(async () => {
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  server = undefined;
});

async function serve(app: Express): Promise<number> {
  const made = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  server = made;
  return (made.address() as AddressInfo).port;
}

const echo = (request: Request, response: Response) => {
  response.json((request as Guarded).rollcall ?? 'nobody');
};

test.each(refusedHeaders)('in front of Express, refuses %s before a body is read', async (_, headers) => {
  const app = express().use(nodeMiddleware(widenedVerifier())).use(express.json()).post('/v1/host', echo);
  const port = await serve(app);
  const json = ['Content-Type', 'application/json'];
  const refused = await call(port, '/v1/host', [...headers, ...json], { method: 'POST', body: '{"not json' });
  expect([refused.status, refused.headers['content-type'], refused.body]).toEqual([
    401,
    'application/json',
    '{"error":"node token invalid"}',
  ]);
  const taken = await call(port, '/v1/host', ['X-Node-Token', current, ...json], { method: 'POST', body: '{}' });
  expect(taken.body).toBe('{"version":4,"role":"current"}');
});

test('leaves open paths open at the root, and guards what has their name below a mount', async () => {
  const app = express().use('/v1', nodeMiddleware(widenedVerifier()));
  app.get('/v1/healthz', echo).get('/healthz', echo);
  const port = await serve(app);
  expect((await call(port, '/v1/healthz')).status).toBe(401);
  expect((await call(port, '/v1/healthz', ['X-Node-Token', current])).status).toBe(200);
  expect((await call(port, '/healthz')).status).toBe(200);
});
