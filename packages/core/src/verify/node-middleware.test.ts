import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { RollcallError } from '../errors.ts';
import { call, current, refusedHeaders, retiring, widenedVerifier } from './guard.fixture.ts';
import type { Guarded, GuardOptions } from './guard.ts';
import { nodeMiddleware } from './node-middleware.ts';
import type { TokenVerifier } from './token.ts';

let server: Server | undefined;

afterEach(async () => {
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  server = undefined;
});

async function serve(handle: RequestListener): Promise<number> {
  const made = createServer(handle);
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return (made.address() as AddressInfo).port;
}

function serveGuarded(verifier: TokenVerifier, options?: GuardOptions): Promise<number> {
  const guard = nodeMiddleware(verifier, options);
  return serve((request, response) =>
    guard(request, response, () => response.end(JSON.stringify((request as Guarded).rollcall ?? 'nobody'))),
  );
}

describe('in front of node:http', () => {
  test('hands on which version was verified, and in which role', async () => {
    const verifier = widenedVerifier();
    const port = await serveGuarded(verifier);
    expect(await call(port, '/v1/host', ['X-Node-Token', current])).toMatchObject({
      status: 200,
      body: '{"version":4,"role":"current"}',
    });
    expect((await call(port, '/v1/host', ['x-NODE-token', retiring])).body).toBe('{"version":3,"role":"retiring"}');
    expect(verifier.hits()).toEqual({ current: 1, next: 0, retiring: 1 });
  });

  test.each(refusedHeaders)('refuses %s with the one answer, and counts nothing', async (_, headers) => {
    const verifier = widenedVerifier();
    const port = await serveGuarded(verifier);
    const refused = await call(port, '/v1/host', headers, { method: 'POST', body: 'anything' });
    expect(refused.status).toBe(401);
    expect(refused.headers['content-type']).toBe('application/json');
    expect(refused.body).toBe('{"error":"node token invalid"}');
    expect(verifier.hits()).toEqual({ current: 0, next: 0, retiring: 0 });
    expect((await call(port, '/v1/host', ['X-Node-Token', current])).status).toBe(200);
  });

  test.each(['/healthz', '/readyz', '/version', '/healthz?full'])('leaves %s open', async (path) => {
    const port = await serveGuarded(widenedVerifier());
    expect(await call(port, path)).toMatchObject({ status: 200, body: '"nobody"' });
    // Nothing was verified there, so nothing is said to have been.
    expect((await call(port, path, ['X-Node-Token', 'wrong'])).body).toBe('"nobody"');
  });

  test.each([
    '/healthz/',
    '//healthz',
    '/HEALTHZ',
    '/healthz/../v1/host',
    '/v1/host/../../healthz',
    '/%68ealthz',
    '/healthz;x',
    '/healthz%3F',
    'http://test/healthz',
    '/v1/host?/healthz',
    '*',
  ])('does not take %s for an open path', async (path) => {
    const port = await serveGuarded(widenedVerifier());
    expect((await call(port, path)).status).toBe(401);
    expect((await call(port, path, ['X-Node-Token', current])).status).toBe(200);
  });

  test('takes another header and other open paths, and those alone', async () => {
    const port = await serveGuarded(widenedVerifier(), { header: 'X-Fleet-Token', open: ['/alive'] });
    expect((await call(port, '/v1/host', ['x-fleet-token', current])).status).toBe(200);
    expect((await call(port, '/v1/host', ['x-node-token', current])).status).toBe(401);
    expect((await call(port, '/alive')).status).toBe(200);
    expect((await call(port, '/healthz')).status).toBe(401);
  });

  test.each<[string, GuardOptions]>([
    ['a header that is none', { header: 'x node token' }],
    ['an empty header', { header: '' }],
    ['an open path without a slash', { open: ['healthz'] }],
    ['an empty open path', { open: [''] }],
    ['an open path with a query', { open: ['/healthz?x'] }],
  ])('is not made with %s', (_, options) => {
    expect(() => nodeMiddleware(widenedVerifier(), options)).toThrow(TypeError);
  });

  test.each<[string, Error]>([
    ['a TypeError', new TypeError('broken')],
    ['another refusal', new RollcallError('unavailable')],
    ['what only has the code of one', Object.assign(new Error('broken'), { code: 'unauthenticated' })],
  ])('a fault of the verifier is no refusal, and lets nobody in: %s', (_, fault) => {
    const broken: TokenVerifier = {
      verify: () => {
        throw fault;
      },
      hits: () => ({ current: 0, next: 0, retiring: 0 }),
    };
    let passed = false;
    const request = { url: '/v1/host', rawHeaders: ['X-Node-Token', current] };
    const response = { writeHead: () => ({ end: () => undefined }) };
    const guard = nodeMiddleware(broken);
    expect(() =>
      guard(request, response, () => {
        passed = true;
      }),
    ).toThrow(fault);
    expect(passed).toBe(false);
  });
});

/** What Express and Connect make of a request before a mounted handler sees it. */
describe('mounted', () => {
  const statusOf = (request: { url: string; originalUrl?: string; baseUrl?: string }): number => {
    let status = 200;
    const response = {
      writeHead: (refused: number) => {
        status = refused;
        return { end: () => undefined };
      },
    };
    nodeMiddleware(widenedVerifier())({ ...request, rawHeaders: [] }, response, () => undefined);
    return status;
  };

  test.each([
    ['by Express at the root', { url: '/healthz', originalUrl: '/healthz', baseUrl: '' }, 200],
    ['by Express at /v1', { url: '/healthz', originalUrl: '/v1/healthz', baseUrl: '/v1' }, 401],
    ['by Connect at /v1', { url: '/healthz', originalUrl: '/v1/healthz' }, 401],
    ['by Connect at the root', { url: '/healthz', originalUrl: '/healthz' }, 200],
    ['behind a rewrite of an open path', { url: '/v1/host', originalUrl: '/healthz', baseUrl: '' }, 401],
  ])('%s', (_, request, status) => {
    expect(statusOf(request)).toBe(status);
  });
});
