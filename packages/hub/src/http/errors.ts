/** The edge: every error becomes one of two answers. A failed authentication says nothing; the rest is RFC 9457. */

import { type ErrorCode, errorTable, RollcallError } from '@rollcall/core/errors';
import type { Log } from '@rollcall/core/ports';
import { type Problem, unauthenticatedBody } from '@rollcall/wire';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

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

/** Sends the answer for `error`; anything that is not of the table is logged, and answered as `internal`. */
export function answerError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toRollcallError(error);
  if (known.code === 'unauthenticated') return answerUnauthenticated(reply);
  if (known.code === 'internal') {
    log.error('a request failed inside', {
      requestId: request.id,
      route: request.routeOptions.url ?? '',
      error: describe(error),
    });
  }
  return reply
    .code(known.row.status)
    .headers(known.row.retryable ? { 'retry-after': '1' } : {})
    .type('application/problem+json')
    .send(JSON.stringify(toProblem(known, request.id)));
}

/** The same status, headers and bytes, whatever was wrong (I13). */
export function answerUnauthenticated(reply: FastifyReply): FastifyReply {
  return reply.code(errorTable.unauthenticated.status).type('application/json').send(unauthenticatedBody);
}

export function toProblem(error: RollcallError, requestId: string): Problem {
  const { status, text, hint } = error.row;
  return { type: 'about:blank', title: text, status, code: error.code, hint, details: { ...error.details }, requestId };
}

function toRollcallError(error: unknown): RollcallError {
  if (error instanceof RollcallError) return error;
  const { code, validation } = error as FastifyError;
  // Where in the body, and what was expected there; never what was sent.
  const first = validation?.[0];
  const details = first === undefined ? {} : { at: first.instancePath || '/', expected: first.message ?? '' };
  return new RollcallError(fastifyCodes[code] ?? 'internal', details, { cause: error });
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
