/** Errors over HTTP: `application/problem+json` (RFC 9457) with the code of the one table in core. */
import { type Static, Type } from 'typebox';
import { sentence, word } from './text-kinds.ts';

export const problem = Type.Object({
  type: sentence(200),
  title: sentence(),
  status: Type.Integer(),
  code: word(),
  hint: sentence(),
  /** Facts about this occurrence. */
  details: Type.Record(word(), Type.Unknown()),
  requestId: word(),
});
export type Problem = Static<typeof problem>;

/** What every failed authentication is answered, to the byte (I13). Not a problem document: it tells nothing. */
export const unauthenticatedBody = '{"error":"node token invalid"}';
