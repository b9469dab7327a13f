/**
 * A token guard for Fastify: a hook that runs before a body is read. It guards the instance that it is registered on, with all that is
 * registered below: the root and so everything, its own 404 included, or one part of an application.
 */
import { utf8 } from '../bytes.ts';
import { createGuard, type Guarded, type GuardOptions, isTokenRefusal, tokenRefusal } from './guard.ts';
import type { TokenVerifier } from './token.ts';

export interface FastifyGuardedRequest extends Guarded {
  readonly raw: { readonly url?: string | undefined; readonly rawHeaders: readonly string[] };
}

export interface FastifyGuardedReply {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: Uint8Array): unknown;
}

export interface FastifyGuardedInstance {
  hasRequestDecorator(name: string): boolean;
  decorateRequest(name: 'rollcall', value: null): unknown;
  addHook(
    name: 'onRequest',
    hook: (request: FastifyGuardedRequest, reply: FastifyGuardedReply, done: () => void) => void,
  ): unknown;
}

export type FastifyGuardPlugin = (instance: FastifyGuardedInstance, options: unknown, done: () => void) => void;

/** `app.register(fastifyPlugin(verifier))`; then `request.rollcall` says what was verified. */
export function fastifyPlugin(verifier: TokenVerifier, options: GuardOptions = {}): FastifyGuardPlugin {
  const guard = createGuard(verifier, options);
  // As bytes: to a text Fastify adds a charset of its own.
  const body = utf8(tokenRefusal.body);
  const plugin: FastifyGuardPlugin = (instance, _options, done) => {
    if (!instance.hasRequestDecorator('rollcall')) instance.decorateRequest('rollcall', null);
    instance.addHook('onRequest', (request, reply, proceed) => {
      if (!guard.isOpen(request.raw.url)) {
        try {
          request.rollcall = guard.verifyRaw(request.raw.rawHeaders);
        } catch (error) {
          if (!isTokenRefusal(error)) throw error;
          reply.code(tokenRefusal.status);
          reply.header('content-type', tokenRefusal.contentType);
          reply.send(body);
          return;
        }
      }
      proceed();
    });
    done();
  };
  // Not in a scope of its own, where it would guard nothing: what fastify-plugin does.
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'rollcall-token',
  });
}
