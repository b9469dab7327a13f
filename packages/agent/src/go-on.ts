/** The next thing to do: what is not durable first, then the enrolment, whom to believe, the listener's certificate, the beat. */
import type { SecretBytes } from '@rollcall/core/keys';
import type { AgentState, LogAction, Moment, Ticked, Write } from './agent-state.ts';
import { chooseBearer } from './bearer.ts';
import { waitMs } from './failures.ts';
import { enrolRequest, heartbeatRequest, trustBundleRequest } from './hub-requests.ts';
import { isCertificateDue } from './listener-certificate.ts';
import { askCertificate } from './on-certificate.ts';
import type { DurableState, PendingEnrolment } from './state/durable-state.ts';
import { nothingDelivered, send, write } from './step.ts';

export function goOn(state: AgentState, now: Moment, logs: readonly LogAction[] = []): Ticked {
  if (!state.onDisk) return write(state, startingWrite(state, state.durable, now), logs);
  if (state.toRedeem === undefined) return ask(state, now, logs);
  return write(state, startingWrite(state, { ...state.durable, enrolment: state.toRedeem }, now), logs);
}

/** Asks the hub for what this host lacks most, and for its orders when it lacks nothing. */
export function ask(state: AgentState, now: Moment, logs: readonly LogAction[]): Ticked {
  const bearer = presentedBearer(state, now);
  const enrolment = enrolmentToAsk(state, bearer !== undefined);
  if (enrolment !== undefined) {
    return send(state, { route: 'enrol' }, { type: 'post_enrol', request: enrolRequest(state, enrolment) }, logs);
  }
  // A start refuses a state that has neither a bearer nor a token to redeem.
  if (bearer === undefined) throw new TypeError('agent: there is nothing to present');
  if (state.durable.roots.length === 0) {
    return send(
      state,
      { route: 'trustBundle' },
      { type: 'fetch_trust_bundle', request: trustBundleRequest(state) },
      logs,
    );
  }
  if (isCertificateDue(state, now)) return askCertificate(state, now, logs);
  const next = { ...state, seq: state.seq + 1 };
  const asking = {
    route: 'heartbeat',
    ...(bearer.version === undefined ? {} : { bearerVersion: bearer.version }),
  } as const;
  return send(next, asking, { type: 'post_heartbeat', request: heartbeatRequest(next, bearer.key, now) }, logs);
}

/** What the next beat presents; without a version where it is derived from the master of an older fleet. */
export function presentedBearer(
  { durable, bearer, fleet }: AgentState,
  now: Moment,
): { readonly version?: number; readonly key: SecretBytes<'host-key'> } | undefined {
  const master = durable.assignments.get('master');
  return master === undefined ? fleet : chooseBearer(master, bearer, now.monotonicMs);
}

/** In turn with heartbeats while there is an identity to keep alive: a token that cannot be redeemed must not silence it. */
function enrolmentToAsk(state: AgentState, hasBearer: boolean): PendingEnrolment | undefined {
  const isTurn = !hasBearer || (!state.enrolmentRefused && state.lastRoute !== 'enrol');
  return isTurn ? state.durable.enrolment : undefined;
}

function startingWrite(state: AgentState, next: DurableState, now: Moment): Write {
  const wakeAtMs = now.monotonicMs + waitMs(state.failures + 1, undefined, now);
  return { ...nothingDelivered, isBeginning: true, next, thenAtOnce: true, wakeAtMs };
}
