/**
 * `POST /v1/heartbeat` on the bare server. It is the one route that every host asks every few seconds, and a framework would
 * cost there as much as the work itself (bench/heartbeat.ts). Who calls is settled before a body is read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RollcallError } from '@rollcall/core/errors';
import { parseJson } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { type HeartbeatBody, routes } from '@rollcall/wire';
import {
  type AuthenticatedHost,
  type AuthenticatedMember,
  authenticateHost,
  authenticateMember,
  isMember,
} from '../authenticate.ts';
import type { Hub } from '../hub.ts';
import { receiveHeartbeat } from '../operations/receive-heartbeat.ts';
import { noteTokens } from '../operations/token/note-tokens.ts';
import { receiveDeclaredBeat } from '../operations/token/receive-declared-beat.ts';
import { type BeatLimit, createBeatLimit, createUnlistedBeatLimit, type UnlistedBeatLimit } from './beat-limit.ts';
import { endGently } from './end-gently.ts';
import { type ErrorAnswer, toErrorAnswer } from './errors.ts';
import { noteRung } from './note-rung.ts';
import { readBody } from './read-body.ts';
import { routeActs } from './route-acts.ts';
import { sentFrom } from './sent-from.ts';
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
  const limitOf = {
    derived: createBeatLimit(),
    'host-token': createBeatLimit(),
    'fleet-token': createBeatLimit(),
  } as const;
  const unlisted = createUnlistedBeatLimit();
  let check: BodyCheck | undefined;
  let requests = 0;
  return (request, response) => {
    requests += 1;
    const number = requests;
    check ??= compileCheck();
    const takes: Takes = { check, limitOf, unlisted };
    const startedAt = hub.clock.monotonic();
    const fail = (error: unknown) => {
      hub.counts.add('heartbeats', resultOf(error));
      send(response, toErrorAnswer(hub.log, error, { requestId: `beat-${number}`, route: routes.heartbeat.path }));
    };
    // What comes to no beat was sent with a token all the same, and is counted.
    const refuse = (who: Speaker, error: unknown) => {
      noteTokens(hub, who, sentFrom(hub, request, routes.heartbeat.path));
      fail(error);
    };
    const onBody = (who: Speaker, bytes: Buffer, waitedFrom: number) => {
      const nowMs = hub.clock.monotonic();
      const succeed = (text: string) => {
        const workedMs = hub.clock.monotonic() - nowMs + waitedFrom - startedAt;
        hub.counts.heartbeatSeconds.observe(workedMs / 1_000);
        hub.counts.add('heartbeats', 'ok');
        sendText(response, text);
      };
      let beat: HeartbeatBody;
      try {
        beat = readBeat(hub, takes, { request, who, bytes, nowMs });
      } catch (error) {
        refuse(who, error);
        return;
      }
      receiveBeat(hub, request, who, beat).then(succeed, fail);
    };
    const receive = (who: Speaker) => {
      noteRung(hub, who, request, routes.heartbeat.path);
      const waitedFrom = hub.clock.monotonic();
      try {
        readBody(request, limits.heartbeatBodyBytes, {
          onBody: (bytes) => onBody(who, bytes, waitedFrom),
          onError: (error) => refuse(who, error),
        });
      } catch (error) {
        refuse(who, error);
      }
    };
    try {
      // Who is known from memory is known at once: no promise, and nothing that waits for one, is made for each beat.
      const known = isMember(request)
        ? authenticateMember(hub, request, routeActs.heartbeat)
        : authenticateHost(hub, request, routeActs.heartbeat);
      if (known instanceof Promise) known.then(receive).catch(fail);
      else receive(known);
    } catch (error) {
      fail(error);
    }
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';

type Speaker = AuthenticatedHost | AuthenticatedMember;

interface Takes {
  readonly check: BodyCheck;
  readonly limitOf: Readonly<Record<Speaker['rung'], BeatLimit>>;
  readonly unlisted: UnlistedBeatLimit;
}

interface ReceivedBeat {
  readonly request: IncomingMessage;
  readonly who: Speaker;
  readonly bytes: Buffer;
  /** Monotonic. */
  readonly nowMs: number;
}

/** Throws what it is refused with. */
function readBeat(hub: Hub, takes: Takes, { request, who, bytes, nowMs }: ReceivedBeat): HeartbeatBody {
  const { check } = takes;
  const body = parseJson(bytes);
  if (check(body) !== true) {
    const { instancePath, message } = check.errors?.[0] ?? {};
    throw new RollcallError('malformed_request', { at: instancePath || '/', expected: message ?? '' });
  }
  const beat = body as unknown as HeartbeatBody;
  // Of the cost of a beat most is spent by now; what the limit keeps is the store, and the share of the other agents.
  const from = request.socket.remoteAddress ?? '';
  const waitMs = takeTurn(hub, takes, who, { instance: beat.instance, from, nowMs });
  if (waitMs > 0) throw tooMany(waitMs);
  return beat;
}

function receiveBeat(hub: Hub, request: IncomingMessage, who: Speaker, beat: HeartbeatBody): Promise<string> {
  const from = request.socket.remoteAddress ?? '';
  if (who.rung === 'fleet-token') {
    return receiveDeclaredBeat(hub, { who, body: beat, from, userAgent: userAgentOf(request) });
  }
  const userAgent = who.tokens.length === 0 ? '' : userAgentOf(request);
  return receiveHeartbeat(hub, { who, body: beat, from, userAgent });
}

/** Of a host on the roll, proven or declared; who is on none has a limit of its own. */
function takeTurn(
  { roll }: Hub,
  { limitOf, unlisted }: Takes,
  who: Speaker,
  { instance, from, nowMs }: { readonly instance: string; readonly from: string; readonly nowMs: number },
): number {
  if (who.rung !== 'fleet-token') return limitOf[who.rung].take(who.entry, instance, from, nowMs);
  const { declaredHost } = who;
  const entry = declaredHost === null ? undefined : roll.get(declaredHost);
  if (entry === undefined) return unlisted.take(declaredHost, instance, from, nowMs);
  return limitOf['fleet-token'].take(entry, instance, from, nowMs);
}

function sendText(response: ServerResponse, text: string): void {
  const bytes = Buffer.byteLength(text);
  response.writeHead(200, ['content-type', JSON_TYPE, 'content-length', String(bytes)]);
  // An answer is ASCII where nobody put anything else into it: then it goes out as it is, and needs no encoder.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
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
