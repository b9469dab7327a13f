/** The operator's side of the API: one typed call for every route of the table in wire, over the hub's Unix socket or over TLS. */
import { type ErrorCode, type ErrorDetails, errorTable, RollcallError } from '@rollcall/core/errors';
import { type JsonValue, parseJson } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import type { Clock } from '@rollcall/core/ports';
import type { AnswerOf, BodyOf, Problem, QueryOf, Route } from '@rollcall/wire';
import { describeConnectFailure } from './connect-failure.ts';
import type { HubAddress, SendRequest, SocketAnswer } from './ports.ts';
import { usageError } from './usage-error.ts';

export interface CallOptions<R extends Route> {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: BodyOf<R>;
  readonly query?: QueryOf<R>;
}

export interface HubClient {
  /** Throws the hub's refusal under its own code, or `hub_unreachable`, `hub_no_answer`, `hub_answer_unusable`. */
  call<R extends Route>(route: R, options?: CallOptions<R>): Promise<AnswerOf<R>>;
}

export interface HubConnection {
  readonly to: HubAddress;
  readonly headers: Readonly<Record<string, string>>;
}

export interface HubClientParts {
  /** Settled with the first call, since over TCP files have to be read for it. */
  readonly connection: () => Promise<HubConnection>;
  /** Declared to the hub, which writes it down as such: a Unix socket has no credential of its own in Node. */
  readonly actor: string;
  readonly version: string;
  readonly send: SendRequest;
  readonly clock: Clock;
}

export function createHubClient(parts: HubClientParts): HubClient {
  return {
    async call(route, options = {}) {
      const answer = await exchange(parts, route, options);
      const json = parseAnswer(answer);
      if (answer.status >= 200 && answer.status < 300) return checkedAnswer(route, json);
      throw refusal(answer.status, json);
    },
  };
}

async function exchange<R extends Route>(
  parts: HubClientParts,
  route: R,
  options: CallOptions<R>,
): Promise<SocketAnswer> {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  const { to, headers } = await parts.connection();
  const deadline = new AbortController();
  const cancel = parts.clock.after(limits.operatorCallMs, () => deadline.abort());
  try {
    return await parts.send({
      to,
      method: route.method,
      path: fillPath(route.path, options.params ?? {}) + fillQuery(options.query),
      headers: {
        accept: 'application/json, application/problem+json',
        'user-agent': `rollcall/${parts.version}`,
        'x-rollcall-actor': asHeader(parts.actor),
        ...headers,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      },
      body,
      maxBytes: limits.operatorAnswerMaxBytes,
      signal: deadline.signal,
    });
  } catch (error) {
    throw describeConnectFailure(error, to, route.method !== 'GET');
  } finally {
    cancel();
  }
}

/** `/v1/hosts/:host` with its parameter, which cannot become another segment. */
function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:([a-z]+)/g, (_, name: string) => {
    const value = params[name] ?? '';
    if (value === '' || value === '.' || value === '..') throw usageError(`${name} is not a usable name`);
    return encodeURIComponent(value);
  });
}

function fillQuery(query: unknown): string {
  const entries = Object.entries((query ?? {}) as Record<string, unknown>).filter(([, value]) => value !== undefined);
  return entries.length === 0
    ? ''
    : `?${new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
}

function parseAnswer(answer: SocketAnswer): JsonValue {
  try {
    return parseJson(answer.body);
  } catch (cause) {
    throw new RollcallError('hub_answer_unusable', { status: answer.status, reason: 'not JSON' }, { cause });
  }
}

/** The socket is the hub's own, so only what another version would have changed is looked for: a field that is not there. */
function checkedAnswer<R extends Route>(route: R, json: JsonValue): AnswerOf<R> {
  const required = (route.answer as { readonly required?: readonly string[] }).required ?? [];
  const missing = isRecord(json) ? required.filter((field) => !(field in json)) : ['object'];
  if (missing.length > 0) throw new RollcallError('hub_answer_unusable', { missing });
  return json as AnswerOf<R>;
}

/** The hub's own words travel as the cause (`RemoteRefusal`): it knows more about this occurrence than the table. */
function refusal(status: number, json: JsonValue): RollcallError {
  // The constant answer of a failed authentication tells nothing else (I13).
  if (status === 401) return new RollcallError('operator_refused');
  if (!isRecord(json) || typeof json['code'] !== 'string') return new RollcallError('hub_refused', { status });
  const problem = json as unknown as Problem;
  const known = Object.hasOwn(errorTable, problem.code);
  return new RollcallError(known ? (problem.code as ErrorCode) : 'hub_refused', plainDetails(problem.details), {
    cause: { problem } satisfies RemoteRefusal,
  });
}

export interface RemoteRefusal {
  readonly problem: Problem;
}

export function remoteRefusal(error: RollcallError): Problem | undefined {
  const cause = error.cause;
  return typeof cause === 'object' && cause !== null && 'problem' in cause
    ? (cause as RemoteRefusal).problem
    : undefined;
}

function plainDetails(details: unknown): ErrorDetails {
  const entries = Object.entries(isRecord(details) ? details : {}).filter(([, value]) => isPlain(value));
  return Object.fromEntries(entries) as ErrorDetails;
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Visible ASCII: a header takes nothing else, and the log of the hub should not either. */
function asHeader(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, 64) || 'unknown';
}
