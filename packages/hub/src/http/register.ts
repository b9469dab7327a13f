/** Registers routes of the one table: strict JSON in, a handler, and nothing that the table does not say. */

import { RollcallError } from '@rollcall/core/errors';
import { parseJson } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import type { Log } from '@rollcall/core/ports';
import { type AnswerOf, type BodyOf, nothing, type QueryOf, type Route } from '@rollcall/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerError } from './errors.ts';
import { harden } from './server-options.ts';

export interface Call<R extends Route> {
  readonly body: BodyOf<R>;
  readonly query: QueryOf<R>;
  readonly params: Readonly<Record<string, string>>;
  readonly request: FastifyRequest;
}

export type Handler<R extends Route> = (call: Call<R>, reply: FastifyReply) => Promise<AnswerOf<R>> | AnswerOf<R>;

/** Bounds of the server, errors, unknown routes, and bodies as strict JSON: for every listener, before any route. */
export function prepare(app: FastifyInstance, log: Log): void {
  harden(app.server);
  app.setErrorHandler((error, request, reply) => answerError(log, error, request, reply));
  app.setNotFoundHandler((request, reply) => answerError(log, new RollcallError('not_found'), request, reply));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

export function register<R extends Route>(
  app: FastifyInstance,
  route: R,
  handler: Handler<R>,
  options: { readonly onRequest?: (request: FastifyRequest) => Promise<void>; readonly bodyLimit?: number } = {},
): void {
  app.route({
    method: route.method,
    url: route.path,
    bodyLimit: options.bodyLimit ?? limits.operatorBodyBytes,
    schema: {
      ...(route.body === nothing ? {} : { body: route.body }),
      ...(route.query === nothing ? {} : { querystring: route.query }),
    },
    config: { auth: route.auth },
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
    handler: async (request, reply) =>
      handler(
        {
          body: request.body as BodyOf<R>,
          query: request.query as QueryOf<R>,
          params: request.params as Record<string, string>,
          request,
        },
        reply,
      ),
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** From the table of routes; a test walks every listener and asserts that none is without. */
    auth?: Route['auth'];
  }
}
