/**
 * What a request to this host is answered, from its method, its target and its headers: no body is needed for any of it. Unknown paths
 * are refused as every path is, so that they tell nobody which there are.
 */
import { type ErrorRow, errorTable, isRollcallError } from '@rollcall/core/errors';
import {
  type AgentEchoAnswer,
  type AgentHostAnswer,
  agentRoutes,
  routes,
  type SinkReport,
  unauthenticatedBody,
} from '@rollcall/wire';
import type { Acceptance } from './acceptance.ts';
import { authenticateCaller, type Caller } from './authenticate-caller.ts';

export interface HostRequest {
  readonly method: string;
  /** As it stands in the request line. */
  readonly target: string;
  readonly rawHeaders: readonly string[];
}

export interface HostView {
  readonly host: string;
  readonly version: string;
  readonly acceptance: Acceptance;
  readonly isOwnProbe: (nonce: string) => boolean;
  readonly describeHost: () => AgentHostAnswer;
  readonly describeSinks: () => readonly SinkReport[];
}

export interface HostAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** The route, by its path in the table; empty where there is none. */
  readonly route: string;
  /** Who was let in; absent where nobody had to be. */
  readonly caller?: Caller;
}

export function answerRequest(view: HostView, request: HostRequest): HostAnswer {
  const path = pathOf(request.target);
  const open = openPaths[path];
  if (open !== undefined) return isRead(request.method) ? open(view) : notFound;
  let caller: Caller;
  try {
    caller = authenticateCaller(request.rawHeaders, view);
  } catch (error) {
    if (!isRollcallError(error, 'unauthenticated')) throw error;
    return unauthenticated;
  }
  return { ...answerCaller(view, request, path, caller), caller };
}

/** The same bytes, whatever was wrong (I13). */
const unauthenticated: HostAnswer = {
  status: errorTable.unauthenticated.status,
  contentType: 'application/json',
  body: unauthenticatedBody,
  route: '',
};

const notFound = toProblem(errorTable.not_found);

function answerCaller(view: HostView, { method }: HostRequest, path: string, caller: Caller): HostAnswer {
  const { host, sinks, echo, echoPost } = agentRoutes;
  if (path === echo.path && (isRead(method) || method === echoPost.method))
    return json(echoOf(method, path, caller), path);
  if (path === host.path && isRead(method)) return json(view.describeHost(), path);
  if (path === sinks.path && isRead(method)) return json({ sinks: view.describeSinks() }, path);
  return notFound;
}

function echoOf(method: string, path: string, { rung, host, declaredHost }: Caller): AgentEchoAnswer {
  return { method, path, rung, host, declaredHost };
}

const openPaths: Readonly<Record<string, (view: HostView) => HostAnswer>> = Object.assign(
  Object.create(null) as object,
  {
    [routes.health.path]: () => json({ status: 'ok' }, routes.health.path),
    // Whether it could let anybody in; no more is said to a stranger.
    [routes.ready.path]: ({ acceptance }: HostView) =>
      acceptance.isEmpty
        ? { ...json({ status: 'not_ready' }, routes.ready.path), status: 503 }
        : json({ status: 'ready' }, routes.ready.path),
    [routes.version.path]: ({ version }: HostView) => json({ version }, routes.version.path),
  },
);

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

function json(body: object, route: string): HostAnswer {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(body), route };
}

function toProblem({ status, text, hint }: ErrorRow): HostAnswer {
  const body = { type: 'about:blank', title: text, status, code: 'not_found', hint };
  return { ...json(body, ''), status, contentType: 'application/problem+json' };
}
