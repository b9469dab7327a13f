/** The requests that an agent makes. No bearer is in one that goes to a peer known by its key alone (design 11). */
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { encodeToken, type SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { PeerTrust, TransportRequest } from '@rollcall/core/ports';
import {
  type CertificateBody,
  type ChallengeBody,
  type EnrolBody,
  type HeartbeatBody,
  routes,
  version,
} from '@rollcall/wire';
import type { AgentState, Moment } from './agent-state.ts';
import { presentedToken } from './listener/acceptance.ts';
import { reportSinks } from './sinks/report-sinks.ts';
import type { DurableState, PendingEnrolment } from './state/durable-state.ts';

export function heartbeatRequest(state: AgentState, key: SecretBytes<'host-key'>, now: Moment): TransportRequest {
  const { durable } = state;
  const tokens = presentedTokens(state, now);
  const body: HeartbeatBody = {
    instance: encodeBase64url(state.instance),
    seq: state.seq,
    host: durable.host,
    wrapKey: publishedWrapKey(durable),
    held: Object.fromEntries([...durable.assignments].map(([secret, { epoch, step }]) => [secret, { epoch, step }])),
    refused: [...state.refused].slice(0, limits.refusalsPerBeat).map(([secret, { reason }]) => ({ secret, reason })),
    agent: { version },
    startup: state.startup,
    sentAt: new Date(now.wallMs).toISOString(),
    ...now.reports,
    ...reportSinks(now.sinks ?? [], key),
  };
  return {
    ...post(hubAddress(state, durable.hubs), routes.heartbeat.path, body),
    headers: {
      ...jsonHeaders,
      authorization: `Bearer ${encodeToken('rcb', key.reveal())}`,
      'x-rollcall-host': durable.host,
    },
    ...(tokens.length === 0 ? {} : { tokens }),
    judge: chainTrust(durable),
  };
}

/**
 * Beside its own bearer, so that the hub knows who presents which version (design 5, Who presented it). Only where the last
 * answer is fresh: of a token that was dropped while the host was away the hub would refuse the whole beat, and with it the
 * delivery of the next one. A beat without them brings what is due; then the host knows what to present.
 */
function presentedTokens({ durable, lastAnswer, failures }: AgentState, now: Moment): readonly string[] {
  const isUpToDate = lastAnswer !== undefined && now.monotonicMs - lastAnswer.monotonicMs <= limits.tokensKnownForMs;
  if (!isUpToDate || failures > 0) return [];
  return [...durable.assignments.values()].map(presentedToken).filter((text) => text !== undefined);
}

export function enrolRequest(state: AgentState, enrolment: PendingEnrolment): TransportRequest {
  const body: EnrolBody = {
    host: state.durable.host,
    wrapKey: publishedWrapKey(state.durable),
    instance: encodeBase64url(enrolment.instance),
    proof: encodeBase64url(enrolment.proof),
    ...(enrolment.csr === undefined ? {} : { csr: encodeBase64url(enrolment.csr), use: 'listener' as const }),
  };
  return {
    ...post(hubAddress(state, enrolment.hubs), routes.enrol.path, body),
    headers: jsonHeaders,
    judge: { kind: 'spki', spki: enrolment.spki },
  };
}

/** First contact of a host of an older fleet: the bundle is public, and the key that serves it is the one in its file. */
export function trustBundleRequest(state: AgentState): TransportRequest {
  return {
    url: hubAddress(state, state.durable.hubs),
    method: 'GET',
    path: routes.trustBundle.path,
    headers: { accept: 'application/json', 'user-agent': USER_AGENT },
    judge: { kind: 'spki', spki: state.durable.knownSpki },
  };
}

/** For a certificate of the listener. No bearer is sent: this proves the pinned key, and a bearer would prove nothing more. */
export function challengeRequest(state: AgentState): TransportRequest {
  const { durable } = state;
  const body: ChallengeBody = { host: durable.host, purpose: 'certificate' };
  return {
    ...post(hubAddress(state, durable.hubs), routes.challenge.path, body),
    headers: jsonHeaders,
    judge: chainTrust(durable),
  };
}

export function certificateRequest(
  state: AgentState,
  proof: { readonly id: Uint8Array; readonly answer: Uint8Array; readonly csr: Uint8Array },
  now: Moment,
): TransportRequest {
  const { durable } = state;
  const body: CertificateBody = {
    host: durable.host,
    id: encodeBase64url(proof.id),
    answer: encodeBase64url(proof.answer),
    csr: encodeBase64url(proof.csr),
    use: 'listener',
    sentAt: new Date(now.wallMs).toISOString(),
  };
  return {
    ...post(hubAddress(state, durable.hubs), routes.issueCertificate.path, body),
    headers: jsonHeaders,
    judge: chainTrust(durable),
  };
}

const USER_AGENT = `rollcall-agent/${version}`;
const jsonHeaders = {
  accept: 'application/json',
  'content-type': 'application/json',
  'user-agent': USER_AGENT,
} as const;

function post(
  url: string,
  path: string,
  body: EnrolBody | HeartbeatBody | ChallengeBody | CertificateBody,
): Pick<TransportRequest, 'url' | 'method' | 'path'> & { body: Uint8Array } {
  return { url, method: 'POST', path, body: utf8(JSON.stringify(body)) };
}

/** Published in every beat (design 3): the first, since a second one is not a pin yet. */
function publishedWrapKey({ wrapKeys }: DurableState): { readonly suite: string; readonly public: string } {
  const [published] = wrapKeys;
  if (published === undefined) throw new TypeError('a state without a wrap key');
  return { suite: published.public.suite, public: encodeBase64url(published.public.bytes) };
}

function hubAddress({ hubs: given, hubIndex }: AgentState, stored: readonly string[]): string {
  const hubs = given ?? stored;
  const address = hubs[hubIndex % hubs.length];
  if (address === undefined) throw new TypeError('a state without a hub');
  return address;
}

function chainTrust({ trustDomain, roots, knownSpki }: DurableState): PeerTrust {
  return { kind: 'chain', trustDomain, roots, knownSpki };
}
