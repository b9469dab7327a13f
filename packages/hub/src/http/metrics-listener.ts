/** `/metrics` on a listener of its own, loopback by default: a scrape beside a guess would tell which token is retiring (design 3). */
import type { Log } from '@rollcall/core/ports';
import { routes } from '@rollcall/wire';
import Fastify, { type FastifyInstance } from 'fastify';
import { createSharedRun } from '../shared-run.ts';
import { prepare, register } from './register.ts';
import { fastifyOptions, httpOptions } from './server-options.ts';

export function createMetricsListener(log: Log, collect: () => Promise<string>): FastifyInstance {
  // A scrape calls the whole roll: whoever may ask gets one, and not one for each question at the same time.
  const metrics = createSharedRun(collect);
  const app = Fastify({ ...fastifyOptions, http: httpOptions });
  prepare(app, log);
  register(app, routes.metrics, async (_call, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics()),
  );
  return app;
}
