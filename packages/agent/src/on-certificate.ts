/** How the certificate of the listener is asked for: a key, which is durable first; a challenge; its answer (design 3, 6). */
import type { ErrorCode } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { answerChallenge } from '@rollcall/core/seal';
import type { AgentState, LogAction, Moment, Ticked } from './agent-state.ts';
import { waitMs } from './failures.ts';
import { parseCertificateAnswer, parseChallengeAnswer } from './hub-answers.ts';
import { certificateRequest, challengeRequest } from './hub-requests.ts';
import { certificateRetryMs, isOverdue, takeCertificate } from './listener-certificate.ts';
import type { AskedCertificate } from './state/listener-keys.ts';
import { nothingDelivered, send, wait, write } from './step.ts';

/** What is not durable is not asked for (I11). */
export function askCertificate(state: AgentState, now: Moment, logs: readonly LogAction[]): Ticked {
  if (state.durable.listener?.asked === undefined) return writeKey(state, now, logs);
  return send(state, { route: 'challenge' }, { type: 'post_challenge', request: challengeRequest(state) }, logs);
}

/** Throws `hub_answer_unusable`, or `challenge_unopenable`: then this host's key is not the pin, and the challenge is for nobody. */
export function onChallenge(before: AgentState, now: Moment, body: Uint8Array): Ticked {
  const { host, wrapKeys } = before.durable;
  const { csr } = askedOf(before);
  const { id, answer } = answerChallenge(parseChallengeAnswer(body), {
    host,
    wrapKeys,
    subject: { purpose: 'certificate', csr, csrUse: 'listener' },
  });
  const request = certificateRequest(before, { id, answer, csr }, now);
  return send({ ...before, hubReachable: true }, { route: 'certificate' }, { type: 'post_certificate', request }, []);
}

/** Throws `hub_answer_unusable` or `listener_untrusted`: the one in force stays. */
export function onCertificate(before: AgentState, now: Moment, body: Uint8Array): Ticked {
  const { privateKey } = askedOf(before);
  const chain = parseCertificateAnswer(body);
  const listener = takeCertificate(before.durable, privateKey, { chain, nowMs: now.wallMs });
  const next = { ...before.durable, listener };
  const notAfter = new Date(listener.current?.notAfterMs ?? 0).toISOString();
  return write(paced({ ...before, hubReachable: true }, now), { ...writing(now), next }, [
    { type: 'log', level: 'info', message: 'a certificate for the listener was issued', fields: { notAfter } },
  ]);
}

/** It backs off by itself, and delays the next heartbeat by no more than the pace of attempts demands. */
export function onCertificateFailure(
  before: AgentState,
  now: Moment,
  failure: { readonly code: ErrorCode; readonly cause: string; readonly hasAnswered: boolean },
): Ticked {
  const { code, cause, hasAnswered } = failure;
  const failures = before.certificate.failures + 1;
  const delayMs = certificateRetryMs(failures, now);
  const state: AgentState = {
    ...before,
    certificate: { ...before.certificate, failures, nextAtMs: now.monotonicMs + delayMs, problem: code },
    hubReachable: hasAnswered,
    hubIndex: before.hubIndex + (hasAnswered ? 0 : 1),
  };
  const level = isOverdue(before, now) ? 'error' : 'warn';
  const fields = { code, cause, failures, delayMs };
  return wait(state, now.monotonicMs + waitMs(1, undefined, now), [
    { type: 'log', level, message: 'the certificate of the listener was asked for in vain', fields },
  ]);
}

function writeKey(state: AgentState, now: Moment, logs: readonly LogAction[]): Ticked {
  const { durable } = state;
  const asked = now.makeListenerRequest?.(durable.host);
  if (asked === undefined) throw new TypeError('agent: a key for a listener that is not wanted');
  const next = { ...durable, listener: { ...durable.listener, asked } };
  return write(paced(state, now), { ...writing(now), next }, logs);
}

/** A disk that does not take it is not asked again at once: heartbeats go on. A write that succeeds takes this back. */
function paced(state: AgentState, now: Moment): AgentState {
  return { ...state, certificate: { ...state.certificate, nextAtMs: now.monotonicMs + limits.backoffMaxMs } };
}

function writing(now: Moment) {
  return { ...nothingDelivered, thenAtOnce: true, wakeAtMs: now.monotonicMs + waitMs(1, undefined, now) };
}

function askedOf({ durable }: AgentState): AskedCertificate {
  const asked = durable.listener?.asked;
  if (asked === undefined) throw new TypeError('agent: a certificate was answered that nobody asked for');
  return asked;
}
