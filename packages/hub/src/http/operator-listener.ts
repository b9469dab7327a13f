/** The operators' listener: a Unix socket whose file mode is the credential, and TCP with tokens where it is asked for (design 8). */
import { limits } from '@rollcall/core/limits';
import { limitConnections } from '@rollcall/wire';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Hub } from '../hub.ts';
import type { HubStatus } from '../hub-status.ts';
import type { SelfChecks } from '../self-checks.ts';
import type { FleetTls } from './fleet-listener.ts';
import { registerHostRoutes } from './operator/host-routes.ts';
import { registerHubRoutes } from './operator/hub-routes.ts';
import { type Identify, identifyBySocket, identifyByToken } from './operator/identify.ts';
import { createOperatorRegister } from './operator/register-operator.ts';
import { registerRotationRoutes } from './operator/rotation-routes.ts';
import { registerRungRoutes } from './operator/rung-routes.ts';
import { prepare } from './register.ts';
import { ajvOptions, fastifyOptions, httpOptions, tlsOptions } from './server-options.ts';

export function createOperatorSocket(hub: Hub, checks: SelfChecks, status: HubStatus): FastifyInstance {
  const app = Fastify({
    ...fastifyOptions,
    http: httpOptions,
    bodyLimit: limits.operatorBodyBytes,
    ajv: { customOptions: ajvOptions },
  });
  return registerAll(app, identifyBySocket, hub, checks, status);
}

export function createOperatorTcp(hub: Hub, tls: FleetTls, checks: SelfChecks, status: HubStatus): FastifyInstance {
  const app = Fastify({
    ...fastifyOptions,
    https: {
      ...tlsOptions,
      key: tls.key,
      cert: tls.certificate,
    },
    bodyLimit: limits.operatorBodyBytes,
    ajv: { customOptions: ajvOptions },
  });
  app.server.maxConnections = limits.operatorConnections;
  limitConnections(app.server, limits.operatorConnectionsPerNetwork);
  return registerAll(app as unknown as FastifyInstance, identifyByToken(hub), hub, checks, status);
}

function registerAll(
  app: FastifyInstance,
  identify: Identify,
  hub: Hub,
  checks: SelfChecks,
  status: HubStatus,
): FastifyInstance {
  prepare(app, hub.log);
  const on = createOperatorRegister(app, identify);
  registerHubRoutes(on, hub, checks, status);
  registerHostRoutes(on, hub);
  registerRungRoutes(on, hub);
  registerRotationRoutes(on, hub);
  return app;
}
