/** Every route of every listener comes from the one table, and asks who calls unless design 3 says that it need not. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Act, acts } from '@rollcall/core/rungs';
import { type Listener, type Route, type RouteAuth, routes, unauthenticatedBody } from '@rollcall/wire';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { initHub, type RunningHub, startHub } from '../main.ts';
import { routeActs } from './route-acts.ts';

interface Seen {
  readonly app: FastifyInstance;
  readonly routes: { readonly method: string; readonly url: string; readonly auth: RouteAuth | undefined }[];
}

const seen = vi.hoisted(() => [] as Seen[]);

// Fastify tells of its routes only to who listens while they are made.
vi.mock('fastify', async (original) => {
  const { default: fastify } = await original<typeof import('fastify')>();
  return {
    default: (options: never) => {
      const made: Seen = { app: fastify(options) as unknown as FastifyInstance, routes: [] };
      made.app.addHook('onRoute', ({ method, url, config }) => {
        for (const one of [method].flat()) made.routes.push({ method: one, url, auth: config?.auth });
      });
      seen.push(made);
      return made.app;
    },
  };
});

const dir = mkdtempSync(join(tmpdir(), 'rc-routes-'));
let hub: RunningHub | undefined;

beforeAll(async () => {
  await initHub({ dir: join(dir, 'hub'), listen: '127.0.0.1:0' });
  const at = { dir: join(dir, 'hub'), operators: '127.0.0.1:0', metrics: '127.0.0.1:0' };
  hub = await startHub({ ...at, logLevel: 'silent' });
});
afterAll(async () => {
  await hub?.stop();
  rmSync(dir, { recursive: true });
});

const table: readonly Route[] = Object.values(routes);
const name = ({ method, path }: Route) => `${method} ${path}`;
const of = (listener: Listener) => table.filter((route) => route.listener === listener);
/** Those that a framework would cost too much on are served by the bare server. */
const bare = [name(routes.heartbeat)];

describe('the listeners of a hub', () => {
  it('serve what the table has for them, each with its auth, and nothing else', () => {
    const served = ({ routes: found }: Seen) =>
      new Set(
        found.filter(({ method }) => method !== 'HEAD').map(({ method, url, auth }) => `${auth} ${method} ${url}`),
      );
    const wanted = (listener: Listener) =>
      new Set(of(listener).flatMap((route) => (bare.includes(name(route)) ? [] : [`${route.auth} ${name(route)}`])));
    // In the order in which a hub makes them.
    expect(seen.map(served)).toEqual((['fleet', 'metrics', 'operator', 'operator'] as const).map(wanted));
  });

  it('answer HEAD only where they answer GET, with the same auth', () => {
    for (const { routes: found } of seen) {
      for (const head of found.filter(({ method }) => method === 'HEAD')) {
        expect(found).toContainEqual({ ...head, method: 'GET' });
      }
    }
  });

  it('would show a route that is not of the table', async () => {
    const { default: fastify } = await import('fastify');
    const app = fastify();
    app.get('/v1/back-door', () => 'welcome');
    expect(seen.pop()?.routes).toContainEqual({ method: 'GET', url: '/v1/back-door', auth: undefined });
  });
});

describe('a route without a credential', () => {
  it('is one of those that design 3 names', () => {
    const without = table.filter(({ auth }) => auth === 'open' || auth === 'public' || auth === 'self-proving');
    const byAuth = (wanted: RouteAuth) => without.filter(({ auth }) => auth === wanted).map(name);
    expect(byAuth('open')).toEqual(['GET /healthz', 'GET /readyz', 'GET /version', 'GET /metrics']);
    expect(of('metrics').map(name)).toEqual(['GET /metrics']);
    const named = [
      'POST /v1/enrol',
      'POST /v1/challenge',
      'POST /v1/certificates',
      'POST /v1/recovery',
      'POST /v1/time',
      'GET /v1/trust-bundle',
    ];
    expect([...byAuth('self-proving'), ...byAuth('public')].filter((route) => !named.includes(route))).toEqual([]);
    expect(without.every(({ listener }) => listener === 'fleet' || listener === 'metrics')).toBe(true);
  });

  it('and every other of the fleet names the act that it is, in the table that says what each takes', () => {
    const asking = Object.entries(routes as Readonly<Record<string, Route>>).filter(
      ([, { listener, auth }]) => listener === 'fleet' && (auth === 'host' || auth === 'self-proving'),
    );
    expect(Object.keys(routeActs).sort()).toEqual(asking.map(([key]) => key).sort());
    for (const [key, { auth }] of asking) {
      const act = (routeActs as Readonly<Record<string, Act | null>>)[key] as Act | null;
      // Whoever asks with a credential of a rung is let in by one; what proves itself, by none.
      expect([key, act !== null && acts[act].least !== null]).toEqual([key, auth === 'host']);
    }
  });

  it.each(of('operator'))(
    'gets the constant refusal over TCP, whatever it asks: $method $path',
    async ({ method, path }) => {
      const url = path.replaceAll(/:[a-z]+/g, 'x');
      for (const authorization of [undefined, 'Bearer rco_wrong', 'Basic eDp5']) {
        const asked = { method, url, ...(authorization === undefined ? {} : { headers: { authorization } }) };
        const answer = await operatorTcp().inject(asked);
        expect([answer.statusCode, answer.body]).toEqual([401, unauthenticatedBody]);
      }
    },
  );

  it('is told from one with a credential', async () => {
    const added = await operatorSocket().inject({
      method: 'POST',
      url: routes.addOperator.path,
      payload: { name: 'ada', role: 'viewer' },
    });
    const { token } = added.json<{ token: string }>();
    const headers = { authorization: `Bearer ${token}` };
    for (const route of of('operator').filter(({ auth }) => auth === 'viewer')) {
      const answer = await operatorTcp().inject({
        method: route.method,
        url: route.path.replaceAll(/:[a-z]+/g, 'x'),
        headers,
      });
      expect([200, 404], `${name(route)} ${answer.body}`).toContain(answer.statusCode);
    }
    // A viewer is let in, and no further.
    const refused = of('operator').filter(({ auth }) => auth !== 'viewer');
    expect(refused.length).toBeGreaterThan(10);
    for (const { method, path } of refused) {
      const answer = await operatorTcp().inject({ method, url: path.replaceAll(/:[a-z]+/g, 'x'), headers });
      expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([403, 'role_too_low']);
    }
  });
});

function operators(): readonly FastifyInstance[] {
  return seen
    .filter(({ routes: found }) => found.some(({ url }) => url === routes.listHosts.path))
    .map(({ app }) => app);
}

/** The socket is made first. */
function operatorSocket(): FastifyInstance {
  return operators()[0] as FastifyInstance;
}

function operatorTcp(): FastifyInstance {
  return operators()[1] as FastifyInstance;
}
