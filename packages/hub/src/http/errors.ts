/** The edge: every error becomes one of two answers. A failed authentication says nothing; the rest is RFC 9457. */

import { type ErrorCode, errorTable, RollcallError } from '@rollcall/core/errors';
import type { Log } from '@rollcall/core/ports';
import { type Problem, unauthenticatedBody } from '@rollcall/wire';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { endGently } from './end-gently.ts';

/** Fastify's own errors, by its codes, in the words of the one table. */
const fastifyCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_request',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_VALIDATION: 'malformed_request',
  FST_ERR_NOT_FOUND: 'not_found',
};

/** An answer, whoever sends it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer for `error`; anything that is not of the table is logged, and answered as `internal`. */
export function toErrorAnswer(
  log: Log,
  error: unknown,
  at: { readonly requestId: string; readonly route: string },
): ErrorAnswer {
  const known = toRollcallError(error);
  if (known.code === 'unauthenticated') return unauthenticatedAnswer;
  if (known.code === 'internal') log.error('a request failed inside', { ...at, error: describe(error) });
  if (isDatabaseFailure(known.details['because'])) log.error('the database failed', { ...at, ...known.details });
  return {
    status: known.row.status,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      ...(known.row.retryable ? { 'retry-after': String(known.details['retryAfterSeconds'] ?? 1) } : {}),
      // Whatever is still to come of it is not read.
      ...(known.code === 'too_large' ? { connection: 'close' } : {}),
    },
    body: JSON.stringify(toProblem(known, at.requestId)),
  };
}

export function answerError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const at = { requestId: request.id, route: request.routeOptions.url ?? '' };
  const { status, headers, body } = toErrorAnswer(log, error, at);
  if (headers['connection'] === 'close') endGently(request.raw.socket);
  return reply.code(status).headers(headers).send(body);
}

/** The same status, headers and bytes, whatever was wrong (I13). */
const unauthenticatedAnswer: ErrorAnswer = {
  status: errorTable.unauthenticated.status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: unauthenticatedBody,
};

export function toProblem(error: RollcallError, requestId: string): Problem {
  const { status, text, hint } = error.row;
  return { type: 'about:blank', title: text, status, code: error.code, hint, details: { ...error.details }, requestId };
}

function toRollcallError(error: unknown): RollcallError {
  if (error instanceof RollcallError) return error;
  const { code, validation, statusCode = 500 } = error as FastifyError;
  // Where in the body, and what was expected there; never what was sent.
  const first = validation?.[0];
  const details = first === undefined ? {} : { at: first.instancePath || '/', expected: first.message ?? '' };
  if (isDatabaseFailure(code)) return new RollcallError('unavailable', { because: code }, { cause: error });
  // The framework's other complaints about a request, an upload that was broken off among them, are no fault inside.
  const otherwise = statusCode >= 400 && statusCode < 500 ? 'malformed_request' : 'internal';
  return new RollcallError(fastifyCodes[code] ?? otherwise, details, { cause: error });
}

/** A disk that is full or read-only, or a file that is damaged: nothing was changed, and it is no fault of the program. */
function isDatabaseFailure(code: unknown): code is string {
  return typeof code === 'string' && /^SQLITE_(?:FULL|READONLY|IOERR|CORRUPT|NOTADB|CANTOPEN|BUSY|LOCKED)/.test(code);
}

/** Name, code and place; a message of a library may carry what it was given. */
function describe(error: unknown): string {
  const { name, code, stack } = error as { name?: string; code?: string; stack?: string };
  const frames = (stack ?? '')
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .slice(0, 6);
  return [`${name ?? typeof error} ${code ?? ''}`.trim(), ...frames.map((frame) => frame.trim())].join(' | ');
}
