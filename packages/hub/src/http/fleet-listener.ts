/** The fleet's listener: TLS 1.3, agents only (design 8). Who calls is settled before a body is read. */
import { constants } from 'node:crypto';
import { limits } from '@rollcall/core/limits';
import { routes } from '@rollcall/wire';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type AuthenticatedHost, authenticateHost } from '../authenticate.ts';
import type { Hub } from '../hub.ts';
import { enrolHost } from '../operations/enrol-host.ts';
import { receiveHeartbeat } from '../operations/receive-heartbeat.ts';
import type { SelfChecks } from '../self-checks.ts';
import { prepare, register } from './register.ts';
import { ajvOptions, httpOptions } from './server-options.ts';

export interface FleetTls {
  /** PEM, leaf first. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

export function createFleetListener(hub: Hub, tls: FleetTls, checks: SelfChecks, version: string): FastifyInstance {
  const app = Fastify({
    https: {
      ...httpOptions,
      key: tls.key,
      cert: tls.certificate,
      minVersion: 'TLSv1.3',
      // A resumed connection has no peer certificate to judge, and resuming saves almost nothing (design 2, traps).
      secureOptions: constants.SSL_OP_NO_TICKET,
    },
    bodyLimit: limits.heartbeatBodyBytes,
    ajv: { customOptions: ajvOptions },
    clientErrorHandler: closeQuietly,
  });
  app.server.maxConnections = limits.connections;
  prepare(app, hub.log);
  const who = new WeakMap<FastifyRequest, AuthenticatedHost>();

  register(app, routes.enrol, ({ body, request }) => enrolHost(hub, body, request.ip), {
    bodyLimit: limits.enrolBodyBytes,
  });
  register(
    app,
    routes.heartbeat,
    async ({ body, request }, reply) => {
      const host = who.get(request) as AuthenticatedHost;
      const text = await receiveHeartbeat(hub, { who: host, body, from: request.ip });
      hub.counts.add('heartbeats', 'ok');
      // Written as text: the statements in it are signed, and the same for everyone for a minute.
      return reply.type('application/json').send(text) as never;
    },
    {
      bodyLimit: limits.heartbeatBodyBytes,
      onRequest: async (request) => {
        who.set(request, await authenticateHost(hub, request.raw));
      },
    },
  );
  app.addHook('onError', async (request, _reply, error) => {
    if (request.routeOptions.url === routes.heartbeat.path) hub.counts.add('heartbeats', resultOf(error));
  });
  register(app, routes.trustBundle, () => hub.identity.bundle);
  register(app, routes.health, () => ({ status: 'ok' }));
  register(app, routes.ready, async (_call, reply) => {
    const isReady = (await checks()).every((check) => check.ok);
    reply.code(isReady ? 200 : 503);
    return { status: isReady ? 'ready' : 'not_ready' };
  });
  register(app, routes.version, () => ({ version }));
  return app;
}

/** A closed word for the metric: the code of the table, or `internal`. */
function resultOf(error: unknown): string {
  const code = (error as { code?: string }).code ?? '';
  return code === 'unauthenticated' ? 'refused' : code.startsWith('FST_') ? 'malformed_request' : code || 'internal';
}

/** Before routing there is nobody to answer a problem document to: one short status, and the connection is closed. */
function closeQuietly(error: Error & { code?: string }, socket: import('node:net').Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
