/**
 * `POST /v1/challenge` and `POST /v1/certificates`: a certificate by proof of the pinned key. Never by a bearer, never by a
 * certificate, and never with a pin of first use that nobody confirmed (design 3, the table of acts).
 */
import { decodeBase64url, encodeBase64url } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { CertificateAnswer, CertificateBody, ChallengeAnswer, ChallengeBody } from '@rollcall/wire';
import { verifyCertificateRequest } from '@rollcall/x509';
import type { ProvenChallenge } from '../challenges.ts';
import type { Hub } from '../hub.ts';
import { findHost, type HostRecord } from '../store/hosts.ts';
import { findPin } from '../store/pins.ts';
import type { Tx } from '../store/schema.ts';
import { spendChallenge } from '../store/spent-challenges.ts';
import { issueListenerCertificate } from './issue-listener-certificate.ts';

/** From memory, and alike for every id: whoever asks has proven nothing, and a challenge that is stale is answered in vain. */
export function challengeHost(hub: Hub, { host, purpose }: ChallengeBody): ChallengeAnswer {
  const entry = hub.roll.get(host);
  return {
    challenge: hub.challenges.issue({ host, purpose, entry, nowMs: hub.clock.now() }) as ChallengeAnswer['challenge'],
  };
}

export interface CertificateCall {
  readonly body: CertificateBody;
  readonly from: string;
  /** After the proof, so that nobody else uses up what this host may ask for. Throws `too_many_requests`. */
  readonly takeTurn: (host: string) => void;
}

/**
 * Throws `unauthenticated`, alike, for everyone who has not proven the pin of an active host; after that it says what is wrong:
 * `malformed_certificate_request`, `unusable_subject_key`, `host_clock_wrong`, `unusable_authority`, `hub_time_jumped`.
 */
export async function certifyHost(hub: Hub, { body, from, takeTurn }: CertificateCall): Promise<CertificateAnswer> {
  if (body.use !== 'listener') throw new RollcallError('certificates_not_offered');
  const { host } = body;
  const csr = bytesOf(body.csr);
  const subject = { purpose: 'certificate', csr, csrUse: body.use } as const;
  const presented = { id: bytesOf(body.id), answer: bytesOf(body.answer) };
  const proven = hub.challenges.verify(presented, { host, subject, nowMs: hub.clock.now() });
  const certificate = await hub.db.transaction().execute(async (tx) => {
    const acting = await actingHost(hub, tx, host, proven);
    takeTurn(host);
    return issueListenerCertificate(hub, tx, {
      host: acting,
      request: verifyCertificateRequest(csr),
      proof: 'pinned-key',
      from,
      behindMs: lagOf(hub, body.sentAt),
    });
  });
  return { certificate: [encodeBase64url(certificate)] };
}

/** The challenge counts only if its key is the pin now, and only once. */
async function actingHost(hub: Hub, tx: Tx, id: string, proven: ProvenChallenge): Promise<HostRecord> {
  const host = await findHost(tx, hub.vault, id).catch(unavailable);
  const pin = await findPin(tx, hub.vault, id).catch(unavailable);
  const isPin = pin !== undefined && pin.fingerprint === proven.fingerprint && pin.anchor !== 'first-use';
  if (host?.status !== 'active' || !isPin) throw new RollcallError('unauthenticated');
  if (!(await spendChallenge(tx, proven, hub.clock.now()))) throw new RollcallError('unauthenticated');
  return host;
}

/** A row that cannot be read has not said no (I10). */
function unavailable(cause: unknown): never {
  if (!isRollcallError(cause, 'store_unreadable')) throw cause;
  throw new RollcallError('unavailable', { because: 'store_unreadable' }, { cause });
}

/**
 * How far the clock of the host is behind: it is the host's word, but it came with the proof (design 6, Clocks). One whose clock
 * would reject the certificate gets none, and is told why.
 */
function lagOf(hub: Pick<Hub, 'clock'>, sentAt: string): number {
  const hostMs = Date.parse(sentAt);
  if (!Number.isSafeInteger(hostMs)) throw new RollcallError('malformed_request', { at: '/sentAt' });
  const behindMs = hub.clock.now() - hostMs;
  if (behindMs > limits.certificateBackdateMaxMs || -behindMs > limits.hostCertificateLifeMs / 2)
    throw new RollcallError('host_clock_wrong', { skewMs: -behindMs, retryAfterSeconds: RETRY_SECONDS });
  return Math.max(0, behindMs);
}

const RETRY_SECONDS = 60;

function bytesOf(text: string): Uint8Array {
  const bytes = decodeBase64url(text);
  if (bytes === undefined || bytes.length === 0) throw new RollcallError('malformed_request');
  return bytes;
}
