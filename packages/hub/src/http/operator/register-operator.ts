/** Registers an operator's route: who acts is settled first, and handed to the handler with the call. */
import { parseHostId } from '@rollcall/core/keys';
import type { AnswerOf, Route } from '@rollcall/wire';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Actor } from '../../store/audit.ts';
import { type Call, register } from '../register.ts';
import type { Identify } from './identify.ts';

export interface OperatorCall<R extends Route> extends Call<R> {
  readonly actor: Actor;
  /** The parameter `:host`, parsed; throws `malformed_host_id`. */
  readonly host: string;
  /** The parameter `:id` or `:name`, as it came. */
  readonly name: string;
}

export type OperatorRegister = <R extends Route>(
  route: R,
  handler: (call: OperatorCall<R>) => Promise<AnswerOf<R>>,
) => void;

export function createOperatorRegister(app: FastifyInstance, identify: Identify): OperatorRegister {
  const actors = new WeakMap<FastifyRequest, Actor>();
  return (route, handler) =>
    register(
      app,
      route,
      (call) =>
        handler({
          ...call,
          actor: actors.get(call.request) as Actor,
          get host() {
            return parseHostId(call.params['host']);
          },
          name: call.params['id'] ?? call.params['name'] ?? '',
        }),
      {
        onRequest: async (request) => {
          actors.set(request, await identify(request, route.auth));
        },
      },
    );
}
