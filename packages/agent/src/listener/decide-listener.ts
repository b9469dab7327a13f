/**
 * May this agent listen on the network? Only with something to demand of a caller, with a certificate, and while the hub has said
 * lately that what this host holds is in force: a thief with an old master must not command a host that fell asleep (design 4).
 */
import type { ErrorCode } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Assignment } from '@rollcall/core/seal';
import { MASTER } from './acceptance.ts';

/** What the hub has said since this start, signed: which generations of the master it verifies. */
export interface Confirmation {
  readonly generations: readonly number[];
  /** How long a generation may go on after it was said to be in force; without it, the default. */
  readonly windowMs?: number;
  /** The time of the statement, by the hub's clock. */
  readonly hubTimeMs: number;
  /** When it came: elapsed time that counts suspension. */
  readonly monotonicMs: number;
}

export interface ListenerFacts {
  /** Where it is to listen; `undefined` where no listener is configured. */
  readonly listen: string | undefined;
  readonly assignments: ReadonlyMap<string, Assignment>;
  /** Whether there is anything that a caller can be asked for. */
  readonly isEmpty: boolean;
  readonly certificate: { readonly notBeforeMs: number; readonly notAfterMs: number } | undefined;
  readonly confirmation: Confirmation | undefined;
  /** The machine was suspended since the confirmation came. */
  readonly hasResumed: boolean;
  readonly isOpen: boolean;
  /** What came with the last answer is not durable yet, and so not in `assignments`. */
  readonly isTaking: boolean;
}

export type ListenerDecision = { readonly open: true } | { readonly open: false; readonly reason: ListenerReason };

export type ListenerReason = Extract<
  ErrorCode,
  | 'listener_not_configured'
  | 'listener_no_credential'
  | 'listener_no_certificate'
  | 'listener_unconfirmed'
  | 'listener_certificate_expired'
>;

export function decideListener(facts: ListenerFacts, nowMonotonicMs: number): ListenerDecision {
  const { listen, assignments, isEmpty, certificate, confirmation, hasResumed } = facts;
  if (listen === undefined) return closed('listener_not_configured');
  if (isEmpty) return closed('listener_no_credential');
  if (certificate === undefined) return closed('listener_no_certificate');
  if (confirmation === undefined || hasResumed) return closed('listener_unconfirmed');
  const elapsedMs = nowMonotonicMs - confirmation.monotonicMs;
  // What was missed comes with the confirmation: whoever was let in before it counts would be refused what others present (I1).
  if (facts.isTaking && !facts.isOpen) return closed('listener_unconfirmed');
  // A clock that went backwards says nothing about how long it has been.
  if (elapsedMs < 0 || elapsedMs >= (confirmation.windowMs ?? limits.verifyWindowMs))
    return closed('listener_unconfirmed');
  const present = assignments.get(MASTER)?.present;
  if (present === undefined || !confirmation.generations.includes(present)) return closed('listener_unconfirmed');
  // By the hub's clock, since no decision of a host rests on its own (I7).
  const hubNowMs = confirmation.hubTimeMs + elapsedMs;
  const isValid = hubNowMs >= certificate.notBeforeMs && hubNowMs < certificate.notAfterMs;
  return isValid ? { open: true } : closed('listener_certificate_expired');
}

function closed(reason: ListenerReason): ListenerDecision {
  return { open: false, reason };
}
