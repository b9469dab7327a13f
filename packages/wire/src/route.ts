/** What a route is: where it is, who may ask, what goes in and what comes out. */
import { type Static, type TSchema, Type } from 'typebox';
import type { OperatorRole } from './operators.ts';

/**
 * `host`: a live credential of a host. `self-proving`: the body carries its own proof. `public`: anyone may know it.
 * `open`: says no more than that the process is there. `local`: whoever may open the agent's socket. `caller`: a shared token
 * that the host holds, or the command bearer that the hub derives for it. A role: an operator's token of at least that
 * role, or whoever may open the operators' socket.
 */
export type RouteAuth = 'host' | 'self-proving' | 'public' | 'open' | OperatorRole | 'local' | 'caller';

export type Listener = 'fleet' | 'operator' | 'metrics' | 'agent';

export interface Route<
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
  Query extends TSchema = TSchema,
> {
  readonly listener: Listener;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With `:host` or `:id` for parameters. */
  readonly path: string;
  readonly auth: RouteAuth;
  readonly summary: string;
  readonly body: Body;
  readonly query: Query;
  readonly answer: Answer;
}

export type BodyOf<R extends Route> = Static<R['body']>;
export type QueryOf<R extends Route> = Static<R['query']>;
export type AnswerOf<R extends Route> = Static<R['answer']>;

/** The body or query of a route that takes none. */
export const nothing = Type.Undefined();

export function get<Answer extends TSchema>(
  listener: Listener,
  path: string,
  auth: RouteAuth,
  summary: string,
  answer: Answer,
): Route<typeof nothing, Answer, typeof nothing> {
  return { listener, method: 'GET', path, auth, summary, body: nothing, query: nothing, answer };
}

export function post<Body extends TSchema, Answer extends TSchema>(
  listener: Listener,
  path: string,
  auth: RouteAuth,
  summary: string,
  body: Body,
  answer: Answer,
): Route<Body, Answer, typeof nothing> {
  return { listener, method: 'POST', path, auth, summary, body, query: nothing, answer };
}

export function put<Body extends TSchema, Answer extends TSchema>(
  listener: Listener,
  path: string,
  auth: RouteAuth,
  summary: string,
  body: Body,
  answer: Answer,
): Route<Body, Answer, typeof nothing> {
  return { ...post(listener, path, auth, summary, body, answer), method: 'PUT' };
}
