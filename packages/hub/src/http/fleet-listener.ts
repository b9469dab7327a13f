/** The fleet's listener: TLS 1.3, agents only (design 8). Who calls is settled before a body is read. */
import type { Server } from 'node:http';
import { createServer } from 'node:https';
import { limits } from '@rollcall/core/limits';
import { limitConnections, type Route, routes } from '@rollcall/wire';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Hub } from '../hub.ts';
import { certifyHost, challengeHost } from '../operations/certify-host.ts';
import { enrolHost } from '../operations/enrol-host.ts';
import type { SelfChecks } from '../self-checks.ts';
import { type BodyCheck, createHeartbeatEndpoint, isHeartbeat } from './heartbeat-endpoint.ts';
import { createRateLimit } from './rate-limit.ts';
import { prepare, register } from './register.ts';
import { ajvOptions, fastifyOptions, tlsOptions } from './server-options.ts';
import { createStrangerLimit, enrolRates, publicRates, tooMany } from './stranger-limit.ts';
import { whoAmI } from './who-am-i.ts';

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
      createServer({ ...tlsOptions, key: tls.key, cert: tls.certificate }, (request, response) => {
        if (isHeartbeat(request)) receiveBeat(request, response);
        else routed(request, response);
      }) as unknown as Server,
    ...fastifyOptions,
    bodyLimit: limits.heartbeatBodyBytes,
    ajv: { customOptions: ajvOptions },
  });
  app.server.maxConnections = limits.connections;
  limitConnections(app.server, limits.connectionsPerNetwork);
  prepare(app, hub.log);

  const limitEnrols = createStrangerLimit(enrolRates);
  register(
    app,
    routes.enrol,
    ({ body, request }) => {
      limitEnrols(request.ip, body.host, hub.clock.monotonic());
      return enrolHost(hub, body, request.ip);
    },
    { bodyLimit: limits.enrolBodyBytes },
  );
  register(app, routes.whoAmI, ({ request }) => whoAmI(hub, request.raw));
  registerCertificates(app, hub);
  const limitPublic = createStrangerLimit(publicRates);
  register(app, routes.trustBundle, ({ request }) => {
    limitPublic(request.ip, '', hub.clock.monotonic());
    return hub.identity.bundle;
  });
  register(app, routes.health, () => ({ status: 'ok' }));
  register(app, routes.ready, async (_call, reply) => {
    const isReady = (await checks()).every((check) => check.ok || check.isWarning === true);
    reply.code(isReady ? 200 : 503);
    return { status: isReady ? 'ready' : 'not_ready' };
  });
  register(app, routes.version, () => ({ version }));
  return app;
}

/** Each with limits of its own: who floods one of them keeps nobody from the other. */
function registerCertificates(app: FastifyInstance, hub: Hub): void {
  const limitChallenges = createStrangerLimit(enrolRates);
  register(
    app,
    routes.challenge,
    ({ body, request }) => {
      limitChallenges(request.ip, body.host, hub.clock.monotonic());
      return challengeHost(hub, body);
    },
    { bodyLimit: limits.enrolBodyBytes },
  );
  const limitAnswers = createStrangerLimit(enrolRates);
  const limitProven = createRateLimit(
    { perSecond: 1_000 / limits.certificateEveryMs, burst: limits.certificatesBurst },
    limits.rateLimitedKeys,
  );
  const takeTurn = (host: string) => {
    const waitMs = limitProven.take(host, hub.clock.monotonic());
    if (waitMs > 0) throw tooMany(waitMs);
  };
  register(
    app,
    routes.issueCertificate,
    ({ body, request }) => {
      limitAnswers(request.ip, body.host, hub.clock.monotonic());
      return certifyHost(hub, { body, from: request.ip, takeTurn });
    },
    { bodyLimit: limits.enrolBodyBytes },
  );
}

/** By the compiler that checks the bodies of all other routes. */
function compileBody(app: FastifyInstance, route: Route): BodyCheck {
  const { validatorCompiler } = app;
  if (validatorCompiler === undefined) throw new TypeError('fleet listener: it is not ready yet');
  const { method, path: url, body: schema } = route;
  return validatorCompiler({ schema, method, url, httpPart: 'body' }) as BodyCheck;
}
