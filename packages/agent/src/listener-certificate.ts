/**
 * When the certificate of this host's listener is due, and what is taken of what the hub issues (design 6). A wrong one is refused
 * here, before it is written: it must not take the place of one that is good.
 */
import { hash } from 'node:crypto';
import type { ErrorCode } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { backoffMs } from '@rollcall/core/liveness';
import { judgeListenerCertificate } from '@rollcall/x509';
import type { AgentRoute, AgentState, Moment } from './agent-state.ts';
import type { DurableState } from './state/durable-state.ts';
import {
  type ListenerCertificate,
  type ListenerKeys,
  type ListenerPrivateKey,
  publicKeyOf,
  toListenerCertificate,
} from './state/listener-keys.ts';

/** What is known of the asking, in memory. */
export interface CertificateMemory {
  /** Failures in a row. */
  readonly failures: number;
  /** It is not asked for before this, monotonic. */
  readonly nextAtMs: number;
  /** Why the last attempt failed; absent when it did not. */
  readonly problem?: ErrorCode;
  /** When this process obtained the one in force, monotonic: how old it is then no wall clock is asked. */
  readonly obtainedAtMs?: number;
}

export const freshCertificateMemory: CertificateMemory = { failures: 0, nextAtMs: Number.NEGATIVE_INFINITY };

/** In turn with what else there is to ask: a certificate that is not to be had must not silence a host. */
export function isCertificateDue(state: AgentState, now: Moment): boolean {
  const { durable, certificate, lastRoute, enrolmentRefused } = state;
  if (now.makeListenerRequest === undefined || durable.roots.length === 0) return false;
  if (isCertificateRoute(lastRoute) || now.monotonicMs < certificate.nextAtMs) return false;
  // The enrolment brings one for that very key.
  if (durable.enrolment?.csr !== undefined && !enrolmentRefused) return false;
  const current = durable.listener?.current;
  return current === undefined || isRenewalDue(current, lifeOf(durable), certificate, now);
}

export function isCertificateRoute(route: AgentRoute | undefined): boolean {
  return route === 'challenge' || route === 'certificate';
}

/** Throws `listener_untrusted`. `privateKey`: of the request that was sent. */
export function takeCertificate(
  durable: DurableState,
  privateKey: ListenerPrivateKey,
  { chain, nowMs }: { readonly chain: readonly Uint8Array[]; readonly nowMs: number },
): ListenerKeys {
  const { roots, trustDomain, host } = durable;
  judgeListenerCertificate({ chain, bundle: roots, trustDomain, host, nowMs, spkiDer: publicKeyOf(privateKey) });
  return { current: toListenerCertificate(privateKey, chain, lifeOf(durable)) };
}

/** After a write of the state. */
export function rememberWrite(
  before: Pick<AgentState, 'durable' | 'certificate'>,
  { listener }: DurableState,
  now: Moment,
): CertificateMemory {
  const { durable, certificate } = before;
  if (listener === durable.listener) return certificate;
  if (listener?.current !== undefined && listener.current !== durable.listener?.current)
    return { ...freshCertificateMemory, obtainedAtMs: now.monotonicMs };
  return { ...certificate, nextAtMs: freshCertificateMemory.nextAtMs };
}

/** After the `failures`-th failure in a row: as everything else backs off, and then on to ten minutes, for it may need a person. */
export function certificateRetryMs(failures: number, now: Moment): number {
  const more = 2 ** Math.min(10, Math.max(0, failures - FAILURES_WITHIN_A_MINUTE));
  const times = Math.min(more, limits.certificateRetryMaxMs / limits.backoffMaxMs);
  return Math.round(times * backoffMs(failures - 1, now.random));
}

/** Whether it has not been renewed when three quarters of its life are over: an alarm before it is an outage. */
export function isOverdue({ durable }: AgentState, now: Moment): boolean {
  const current = durable.listener?.current;
  return current === undefined || now.wallMs >= current.notBeforeMs + lengthOf(current) * OVERDUE_SHARE;
}

const FAILURES_WITHIN_A_MINUTE = 6;
const RENEWAL_SHARE = 0.5;
const RENEWAL_JITTER = 0.1;
const OVERDUE_SHARE = 0.75;

/** Of the keys that are held; before there are any, nobody has told. */
function lifeOf({ assignments }: DurableState): number | null {
  const master = assignments.get('master');
  const value = master?.accept.find(({ version }) => version === master.present)?.value;
  return value !== undefined && 'life' in value ? value.life : null;
}

/**
 * At half of its life, a tenth more or less, and at once in another life of the host. What this process has obtained itself ages
 * with elapsed time alone: a clock that jumps ahead would ask for another one again and again.
 */
function isRenewalDue(
  current: ListenerCertificate,
  life: number | null,
  { obtainedAtMs }: CertificateMemory,
  now: Moment,
): boolean {
  if (current.life !== life) return true;
  const afterMs = lengthOf(current) * (RENEWAL_SHARE - RENEWAL_JITTER + 2 * RENEWAL_JITTER * fractionOf(current));
  if (obtainedAtMs !== undefined) return now.monotonicMs - obtainedAtMs >= afterMs;
  return now.wallMs >= current.notBeforeMs + afterMs;
}

function lengthOf({ notBeforeMs, notAfterMs }: ListenerCertificate): number {
  return notAfterMs - notBeforeMs;
}

/** In [0, 1), another one for each certificate: hosts that were enrolled as one must not come back as one. */
function fractionOf({ chain: [leaf = new Uint8Array()] }: ListenerCertificate): number {
  return Number.parseInt(hash('sha256', leaf, 'hex').slice(0, 8), 16) / 2 ** 32;
}
