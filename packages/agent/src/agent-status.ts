/** What an agent says about itself on its own socket: facts, and what is wrong with what to do about it. No secrets. */
import { type ErrorCode, errorTable } from '@rollcall/core/errors';
import { isDrop } from '@rollcall/core/seal';
import type { AgentHostAnswer, AgentStatusAnswer, HeldToken, ListenerStatus, PinState } from '@rollcall/wire';
import type { AgentState } from './agent-state.ts';

export function describeAgent(state: AgentState, listener?: ListenerStatus): AgentStatusAnswer {
  const { durable, fleet, lastAnswer } = state;
  const master = durable.assignments.get('master');
  return {
    host: durable.host,
    life: lifeOf(state),
    fingerprint: durable.wrapKeys[0]?.public.fingerprint ?? '',
    held: Object.fromEntries([...durable.assignments].map(([secret, { epoch, step }]) => [secret, { epoch, step }])),
    hubReachable: state.hubReachable,
    problems: problemCodes(state, listener).map((code) => ({ code, hint: errorTable[code].hint })),
    presents:
      master === undefined && fleet === undefined ? null : { secret: 'master', version: presentedVersion(state) },
    pin: lastAnswer?.pin ?? null,
    lastAnswerAt: lastAnswer === undefined ? null : new Date(lastAnswer.wallMs).toISOString(),
    heartbeats: Object.fromEntries(state.heartbeats),
    tokens: heldTokens(state),
    ...(listener === undefined ? {} : { listener }),
  };
}

/** The same for a caller over the network: what is held, by number, and what is wrong, by code. */
export function describeHost(state: AgentState, listener: ListenerStatus): AgentHostAnswer {
  const { host, held } = describeAgent(state, listener);
  return {
    host,
    life: lifeOf(state),
    held,
    tokens: heldTokens(state),
    listener,
    problems: [...problemCodes(state, listener)],
  };
}

function heldTokens({ durable }: AgentState): HeldToken[] {
  return [...durable.assignments.values()]
    .filter((held) => held.secret !== 'master' && !isDrop(held))
    .map(({ secret, accept, present }) => ({
      secret,
      accepts: accept.map(({ version }) => version),
      presents: present,
    }));
}

/** Of the keys that are held; before there are any, what an operator said. */
function lifeOf({ durable, fleet }: AgentState): number | null {
  const master = durable.assignments.get('master');
  const value = master?.accept.find(({ version }) => version === master.present)?.value;
  return value !== undefined && 'life' in value ? value.life : (fleet?.life ?? durable.life ?? null);
}

/** `null` where it is derived from the master of an older fleet, whose version only the hub knows. */
function presentedVersion({ durable, bearer }: AgentState): number | null {
  const master = durable.assignments.get('master');
  if (master === undefined) return null;
  const other = master.accept.find(({ version }) => version !== master.present);
  return bearer.otherUntilMs !== undefined && other !== undefined ? other.version : master.present;
}

/** The worst first; each once. */
function problemCodes(state: AgentState, listener?: ListenerStatus): readonly ErrorCode[] {
  const codes: (ErrorCode | undefined)[] = [
    state.diskProblem,
    state.problem,
    state.enrolmentRefused ? 'enrolment_refused' : undefined,
    state.certificate.problem,
    ...[...state.refused.values()].map(({ reason }) => reason),
    state.lastAnswer === undefined ? undefined : pinProblems[state.lastAnswer.pin],
    listenerProblem(listener),
    ...state.warnings,
  ];
  return [...new Set(codes.filter((code) => code !== undefined))];
}

/** An agent without a listener has no problem with it. */
function listenerProblem(listener: ListenerStatus | undefined): ErrorCode | undefined {
  const reason = listener === undefined || listener.address === null ? null : listener.reason;
  return reason !== null && Object.hasOwn(errorTable, reason) ? (reason as ErrorCode) : undefined;
}

const pinProblems: Readonly<Record<PinState, ErrorCode | undefined>> = {
  pinned: undefined,
  none: 'pin_missing',
  not_accepted: 'pin_missing',
  pending: 'pin_contested',
  unusable: 'pin_unusable',
};
