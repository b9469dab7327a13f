/** The fleet's listener: TLS 1.3, agents only (design 8). Who calls is settled before a body is read. */
import { constants } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { limits } from '@rollcall/core/limits';
import { type Route, routes } from '@rollcall/wire';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Hub } from '../hub.ts';
import { enrolHost } from '../operations/enrol-host.ts';
import type { SelfChecks } from '../self-checks.ts';
import { type BodyCheck, createHeartbeatEndpoint, isHeartbeat } from './heartbeat-endpoint.ts';
import { prepare, register } from './register.ts';
import { ajvOptions, httpOptions } from './server-options.ts';

export interface FleetTls {
  /** PEM, leaf first. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

export function createFleetListener(hub: Hub, tls: FleetTls, checks: SelfChecks, version: string): FastifyInstance {
  const receiveBeat = createHeartbeatEndpoint(hub, () => compileBody(app, routes.heartbeat));
  const app: FastifyInstance = Fastify({
    serverFactory: (routed) =>
      createServer(toServerOptions(tls), (request, response) => {
        if (isHeartbeat(request)) receiveBeat(request, response);
        else routed(request, response);
      }) as unknown as Server,
    bodyLimit: limits.heartbeatBodyBytes,
    ajv: { customOptions: ajvOptions },
    clientErrorHandler: closeQuietly,
  });
  app.server.maxConnections = limits.connections;
  prepare(app, hub.log);

  register(app, routes.enrol, ({ body, request }) => enrolHost(hub, body, request.ip), {
    bodyLimit: limits.enrolBodyBytes,
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

function toServerOptions({ key, certificate }: FleetTls): ServerOptions {
  return {
    ...httpOptions,
    key,
    cert: certificate,
    minVersion: 'TLSv1.3',
    // A resumed connection has no peer certificate to judge, and resuming saves almost nothing (design 2, traps).
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** By the compiler that checks the bodies of all other routes. */
function compileBody(app: FastifyInstance, route: Route): BodyCheck {
  const { validatorCompiler } = app;
  if (validatorCompiler === undefined) throw new TypeError('fleet listener: it is not ready yet');
  const { method, path: url, body: schema } = route;
  return validatorCompiler({ schema, method, url, httpPart: 'body' }) as BodyCheck;
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
