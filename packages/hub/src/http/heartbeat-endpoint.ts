/**
 * `POST /v1/heartbeat` on the bare server. It is the one route that every host asks every few seconds, and a framework would
 * cost there as much as the work itself (bench/heartbeat.ts). Who calls is settled before a body is read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RollcallError } from '@rollcall/core/errors';
import { parseJson } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { type HeartbeatBody, routes } from '@rollcall/wire';
import { type AuthenticatedHost, authenticateHost } from '../authenticate.ts';
import type { Hub } from '../hub.ts';
import { receiveHeartbeat } from '../operations/receive-heartbeat.ts';
import { type BeatLimit, createBeatLimit } from './beat-limit.ts';
import { endGently } from './end-gently.ts';
import { type ErrorAnswer, toErrorAnswer } from './errors.ts';
import { readBody } from './read-body.ts';
import { tooMany } from './stranger-limit.ts';
import { userAgentOf } from './user-agent.ts';

/** Whether a value is of the schema; else `errors` says where it is not. As Fastify's compiler makes it. */
export interface BodyCheck {
  (value: unknown): unknown;
  readonly errors?: readonly { readonly instancePath?: string; readonly message?: string }[] | null;
}

export type HeartbeatEndpoint = (request: IncomingMessage, response: ServerResponse) => void;

export function isHeartbeat({ method, url }: IncomingMessage): boolean {
  return url === routes.heartbeat.path && method === routes.heartbeat.method;
}

/** `check` is asked for at the first beat: the compiler of the listener is there once that is ready. */
export function createHeartbeatEndpoint(hub: Hub, compileCheck: () => BodyCheck): HeartbeatEndpoint {
  // Of each rung its own, so that a lower one cannot use up what a higher one needs.
  const limitOf = { derived: createBeatLimit() } as const;
  let check: BodyCheck | undefined;
  let requests = 0;
  return (request, response) => {
    requests += 1;
    const number = requests;
    check ??= compileCheck();
    answerBeat(hub, { check, limitOf }, request).then(
      (text) => {
        hub.counts.add('heartbeats', 'ok');
        response.writeHead(200, ['content-type', JSON_TYPE, 'content-length', String(Buffer.byteLength(text))]);
        response.end(text);
      },
      (error: unknown) => {
        hub.counts.add('heartbeats', resultOf(error));
        send(response, toErrorAnswer(hub.log, error, { requestId: `beat-${number}`, route: routes.heartbeat.path }));
      },
    );
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';

async function answerBeat(
  hub: Hub,
  {
    check,
    limitOf,
  }: { readonly check: BodyCheck; readonly limitOf: Readonly<Record<AuthenticatedHost['rung'], BeatLimit>> },
  request: IncomingMessage,
): Promise<string> {
  const startedAt = hub.clock.monotonic();
  const known = authenticateHost(hub, request);
  const who = known instanceof Promise ? await known : known;
  const waitedFrom = hub.clock.monotonic();
  const text = await readBody(request, limits.heartbeatBodyBytes);
  const waitedMs = hub.clock.monotonic() - waitedFrom;
  const body = parseJson(text);
  if (check(body) !== true) {
    const { instancePath, message } = check.errors?.[0] ?? {};
    throw new RollcallError('malformed_request', { at: instancePath || '/', expected: message ?? '' });
  }
  const beat = body as unknown as HeartbeatBody;
  // Of the cost of a beat most is spent by now; what the limit keeps is the store, and the share of the other agents.
  const waitMs = limitOf[who.rung].take(who.entry.id, beat.instance, hub.clock.monotonic());
  if (waitMs > 0) throw tooMany(waitMs);
  const answer = await receiveHeartbeat(hub, {
    who,
    body: beat,
    from: request.socket.remoteAddress ?? '',
    userAgent: userAgentOf(request),
  });
  hub.counts.heartbeatSeconds.observe((hub.clock.monotonic() - startedAt - waitedMs) / 1_000);
  return answer;
}

function send(response: ServerResponse, { status, headers, body }: ErrorAnswer): void {
  if (headers['connection'] === 'close' && response.socket !== null) endGently(response.socket);
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** A closed word for the metric: a code of the table, or `internal`. */
function resultOf(error: unknown): string {
  if (!(error instanceof RollcallError)) return 'internal';
  return error.code === 'unauthenticated' ? 'refused' : error.code;
}
