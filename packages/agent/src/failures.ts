/** What kind of failure an answer is, and how long to wait after it. Every kind backs off alike (design 7, scenario "backs off"). */
import { type ErrorCode, errorTable } from '@rollcall/core/errors';
import { parseJson, readMember, readObject } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { backoffMs } from '@rollcall/core/liveness';
import type { TransportAnswer } from '@rollcall/core/ports';
import type { AgentRoute, Moment } from './agent-state.ts';

/** The code of an answer that is not 200. */
export function failureOf(route: AgentRoute, answer: TransportAnswer): ErrorCode {
  const { status } = answer;
  if (status === 401) return refusals[route] ?? 'unauthenticated';
  return statedCode(answer) ?? byStatus[status] ?? (status >= 500 ? 'unavailable' : 'hub_answer_unusable');
}

/** How long to wait after the `failures`-th failure in a row: never less than a second, and as `Retry-After` asks up to the cap. */
export function waitMs(failures: number, answer: TransportAnswer | undefined, now: Moment): number {
  const ownMs = backoffMs(Math.max(0, failures - 1), now.random);
  const askedMs = answer === undefined ? undefined : retryAfterMs(answer.headers['retry-after'], now.wallMs);
  return Math.max(ownMs, Math.min(askedMs ?? 0, limits.backoffMaxMs));
}

/** RFC 9110 §10.2.3: seconds, or a date. Anything else asks for nothing. */
export function retryAfterMs(text: string | undefined, wallMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - wallMs);
}

/** IMF-fixdate, the only form that may be sent. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The one refusal, by what was refused. */
const refusals: Readonly<Partial<Record<AgentRoute, ErrorCode>>> = {
  enrol: 'enrolment_refused',
  certificate: 'certificate_refused',
};

const byStatus: Readonly<Record<number, ErrorCode>> = {
  403: 'host_mismatch',
  404: 'not_found',
  413: 'too_large',
  429: 'too_many_requests',
};

/** The code of a problem document (RFC 9457), where it is one of ours and fits the status. */
function statedCode({ status, body }: TransportAnswer): ErrorCode | undefined {
  if (body.length > limits.heartbeatBodyBytes) return undefined;
  try {
    const code = readMember(readObject(parseJson(body), 'problem'), 'code');
    const isOurs = typeof code === 'string' && Object.hasOwn(errorTable, code);
    return isOurs && errorTable[code as ErrorCode].status === status ? (code as ErrorCode) : undefined;
  } catch {
    return undefined; // a proxy's page: the status says enough
  }
}
