/** What follows from an answer of the hub, or from none. */
import { type ErrorCode, isRollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { TransportAnswer } from '@rollcall/core/ports';
import type { AgentRoute, AgentState, Doing, LogAction, Moment, Ticked } from './agent-state.ts';
import { freshBearerMemory, noteAccepted, noteRefused } from './bearer.ts';
import { failureOf, waitMs } from './failures.ts';
import { parseEnrolAnswer, parseHeartbeatAnswer, parseTrustBundle } from './hub-answers.ts';
import { isCertificateRoute, takeCertificate } from './listener-certificate.ts';
import { onCertificate, onCertificateFailure, onChallenge } from './on-certificate.ts';
import type { DurableState, PendingEnrolment } from './state/durable-state.ts';
import type { ListenerKeys } from './state/listener-keys.ts';
import { assertDoing, nothingDelivered, wait, write } from './step.ts';
import { takeDeliveries } from './take-deliveries.ts';
import { takeStatements } from './take-statements.ts';

export function onAnswer(state: AgentState, now: Moment, answer: TransportAnswer): Ticked {
  const asking = assertDoing(state, 'asking');
  if (answer.status !== 200) {
    return onFailure(state, now, {
      code: failureOf(asking.route, answer),
      cause: `status ${answer.status}`,
      hasAnswered: true,
      answer,
    });
  }
  try {
    return handlers[asking.route](state, now, answer.body, asking);
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    // Goes on from the state before: nothing is kept of an answer that cannot be used.
    return onFailure(state, now, { code: error.code, cause: String(error.details['reason'] ?? ''), hasAnswered: true });
  }
}

export interface Failure {
  readonly code: ErrorCode;
  readonly cause: string;
  /** Whether a hub that was believed has answered at all. */
  readonly hasAnswered: boolean;
  readonly answer?: TransportAnswer;
}

/** Every kind of failure backs off alike, and none costs an identity (design 7). */
export function onFailure(
  before: AgentState,
  now: Moment,
  { code, cause, hasAnswered, answer }: Failure,
  logs: readonly LogAction[] = [],
): Ticked {
  const { route, bearerVersion } = assertDoing(before, 'asking');
  if (isCertificateRoute(route)) return onCertificateFailure(before, now, { code, cause, hasAnswered });
  const failures = before.failures + 1;
  const delayMs = waitMs(failures, answer, now);
  const master = before.durable.assignments.get('master');
  const state: AgentState = {
    ...before,
    failures,
    problem: code,
    hurried: false,
    hubReachable: hasAnswered,
    hubIndex: before.hubIndex + (sameEverywhere.has(code) ? 0 : 1),
    enrolmentRefused: before.enrolmentRefused || code === 'enrolment_refused',
    bearer: code === 'unauthenticated' ? noteRefused(master, before.bearer, bearerVersion) : before.bearer,
    heartbeats:
      route === 'heartbeat' ? counted(before, unreachable.has(code) ? 'unreachable' : code) : before.heartbeats,
  };
  const fields = { route, code, cause, failures, delayMs };
  return wait(state, now.monotonicMs + delayMs, [
    ...logs,
    { type: 'log', level: 'warn', message: 'the hub was asked in vain', fields },
  ]);
}

type Asking = Extract<Doing, { kind: 'asking' }>;
type Handler = (before: AgentState, now: Moment, body: Uint8Array, asking: Asking) => Ticked;

const handlers: Readonly<Record<AgentRoute, Handler>> = {
  heartbeat,
  enrol,
  trustBundle,
  challenge: onChallenge,
  certificate: onCertificate,
};

function heartbeat(before: AgentState, now: Moment, body: Uint8Array, asking: Asking): Ticked {
  const told = parseHeartbeatAnswer(body);
  const { durable } = before;
  const deliveries = takeDeliveries(durable, told.deliveries, before.refused);
  const statements = takeStatements(
    deliveries.next,
    before.statements,
    told.statements,
    before.confirmation !== undefined,
  );
  const { inForce } = statements;
  const master = durable.assignments.get('master');
  const state: AgentState = {
    ...succeeded(before),
    refused: deliveries.refused,
    statements: statements.seen,
    ...(inForce === undefined ? {} : { confirmation: { ...inForce, monotonicMs: now.monotonicMs } }),
    lastAnswer: { wallMs: now.wallMs, monotonicMs: now.monotonicMs, pin: told.pin },
    bearer: noteAccepted(master, before.bearer, asking.bearerVersion, now.monotonicMs),
    heartbeats: counted(before, 'ok'),
  };
  const logs = [...recoveryLine(before), ...deliveries.logs, ...statements.logs];
  const wakeAtMs = now.monotonicMs + told.nextBeatMs;
  const { next } = statements;
  if (next === durable) return wait({ ...state, hurried: false }, wakeAtMs, logs);
  const secrets = deliveries.applied.map(({ secret }) => secret);
  const delivered = { ...nothingDelivered, secrets, refusedBefore: before.refused };
  return write(state, { ...delivered, next, thenAtOnce: secrets.length > 0, wakeAtMs }, logs);
}

function enrol(before: AgentState, now: Moment, body: Uint8Array): Ticked {
  const told = parseEnrolAnswer(body);
  const { enrolment, ...durable } = before.durable;
  if (enrolment === undefined) throw new TypeError('agent: an enrolment was answered that nobody asked for');
  if (told.trustDomain !== durable.trustDomain) return unusable(before, now, 'trustDomain');
  const { next: taken, refused, applied, logs } = takeDeliveries(durable, told.deliveries, before.refused);
  // Not redeemed before it has brought a bearer: for a while the hub answers the same request again, resealed.
  const refusal = refused.get('master');
  if (refusal !== undefined) {
    return onFailure({ ...before, refused }, now, { code: refusal.reason, cause: 'delivery', hasAnswered: true }, logs);
  }
  if (!taken.assignments.has('master')) return unusable(before, now, 'deliveries');
  const listener = listenerAfter({ ...taken, roots: told.roots }, enrolment, told.certificate, now);
  const next: DurableState = {
    ...taken,
    ...(listener.keys === undefined ? {} : { listener: listener.keys }),
    roots: told.roots,
    knownSpki: enrolment.spki,
    hubs: enrolment.hubs,
    redeemed: [...durable.redeemed, enrolment.token].slice(-limits.redeemedTokensKept),
  };
  const state: AgentState = { ...succeeded(before), refused, enrolmentRefused: false, bearer: freshBearerMemory };
  const writing = {
    ...nothingDelivered,
    next,
    secrets: applied.map(({ secret }) => secret),
    refusedBefore: before.refused,
    thenAtOnce: true,
    wakeAtMs: now.monotonicMs + waitMs(before.failures + 1, undefined, now),
  };
  return write(state, writing, [...recoveryLine(before), ...logs, ...listener.logs]);
}

/**
 * A certificate of the life before is refused by the hub from now on. Where the answer brings none, or one that is wrong, one is
 * asked for with the key that is there: an enrolment does not fail for it.
 */
function listenerAfter(
  durable: DurableState,
  { csr }: PendingEnrolment,
  chain: readonly Uint8Array[] | undefined,
  now: Moment,
): { readonly keys: ListenerKeys | undefined; readonly logs: readonly LogAction[] } {
  const asked = durable.listener?.asked;
  const kept = durable.listener === undefined ? undefined : asked === undefined ? {} : { asked };
  if (chain === undefined || asked === undefined || csr === undefined) return { keys: kept, logs: [] };
  try {
    return { keys: takeCertificate(durable, asked.privateKey, { chain, nowMs: now.wallMs }), logs: [] };
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    const fields = { code: error.code, cause: String(error.details['reason'] ?? '') };
    const message = 'the certificate that came with the enrolment was refused';
    return { keys: kept, logs: [{ type: 'log', level: 'error', message, fields }] };
  }
}

function trustBundle(before: AgentState, now: Moment, body: Uint8Array): Ticked {
  const next = { ...before.durable, roots: parseTrustBundle(body) };
  const wakeAtMs = now.monotonicMs + waitMs(before.failures + 1, undefined, now);
  return write(succeeded(before), { ...nothingDelivered, next, thenAtOnce: true, wakeAtMs }, recoveryLine(before));
}

/** Codes that another replica would answer alike. */
const sameEverywhere: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unauthenticated',
  'enrolment_refused',
  'host_mismatch',
  'too_many_requests',
]);

const unreachable: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['hub_unreachable', 'hub_timeout']);

function unusable(before: AgentState, now: Moment, cause: string): Ticked {
  return onFailure(before, now, { code: 'hub_answer_unusable', cause, hasAnswered: true });
}

function succeeded({ problem: _problem, ...state }: AgentState): AgentState {
  return { ...state, failures: 0, hubReachable: true };
}

function counted({ heartbeats }: AgentState, result: string): ReadonlyMap<string, number> {
  return new Map(heartbeats).set(result, (heartbeats.get(result) ?? 0) + 1);
}

function recoveryLine({ failures }: AgentState): readonly LogAction[] {
  return failures === 0 ? [] : [{ type: 'log', level: 'info', message: 'the hub answers again', fields: { failures } }];
}
