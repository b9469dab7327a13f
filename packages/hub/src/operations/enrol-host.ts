/** `POST /v1/enrol`: a host redeems its token (design 3, Enrolment). */
import { createHash } from 'node:crypto';
import { decodeBase64url, encodeBase64url, equalBytes } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { verifyEnrolmentProof } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { decidePublication, type PublicationDecision } from '@rollcall/core/pins';
import { parseWrapPublicKey, type WrapPublicKey } from '@rollcall/core/seal';
import type { EnrolAnswer, EnrolBody } from '@rollcall/wire';
import { type VerifiedRequest, verifyCertificateRequest } from '@rollcall/x509';
import type { Hub } from '../hub.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import { type EnrolmentTokenRecord, spendEnrolmentToken } from '../store/enrolment-tokens.ts';
import type { HostRecord } from '../store/hosts.ts';
import type { Tx } from '../store/schema.ts';
import { dueDeliveries } from './due-deliveries.ts';
import { readHeldPins } from './held-pins.ts';
import { issueListenerCertificate } from './issue-listener-certificate.ts';
import { readClaimed } from './read-claimed.ts';
import { takePin } from './take-pin.ts';

/** Answers for a host that holds its pin now; throws `unauthenticated` for everyone else, alike (I13). */
export async function enrolHost(hub: Hub, body: EnrolBody, from: string): Promise<EnrolAnswer> {
  if (body.use === 'client') throw new RollcallError('certificates_not_offered');
  const { outcome, certificate } = await hub.db.transaction().execute((tx) => redeem(hub, tx, body, from));
  const entry = await hub.roll.reload(body.host);
  if (outcome === 'spent') {
    hub.log.warn('a spent enrolment token was presented with a valid proof', { host: body.host, from });
    if (entry !== undefined) entry.tokenReuseAlertedAt = hub.clock.monotonic();
  }
  if (entry === undefined || outcome === 'spent' || outcome === 'spent again')
    throw new RollcallError('unauthenticated');
  return {
    trustDomain: hub.identity.trustDomain,
    bundle: hub.identity.bundle,
    deliveries: [...dueDeliveries(hub, entry, undefined)],
    ...(certificate === undefined ? {} : { certificate: [encodeBase64url(certificate)] }),
  };
}

/** `spent again`: as `spent`, which was alerted a short while ago. */
type Outcome = 'enrolled' | 'repeated' | 'spent' | 'spent again';

interface Redeemed {
  readonly outcome: Outcome;
  /** DER, where one was asked for and could be issued. */
  readonly certificate?: Uint8Array | undefined;
}

async function redeem(hub: Hub, tx: Tx, body: EnrolBody, from: string): Promise<Redeemed> {
  const now = hub.clock.now();
  const wrapPublic = decodeBase64url(body.wrapKey.public);
  const instance = decodeBase64url(body.instance);
  const proof = decodeBase64url(body.proof);
  if (wrapPublic?.length !== 32 || instance === undefined || proof === undefined) {
    throw new RollcallError('malformed_request');
  }
  const asked = readAsked(body);
  const { host, token } = await readClaimed(hub, tx, body.host).catch(withoutPlace);
  // Without a token there is a key that nobody knows, so that an unknown host costs what a known one costs.
  verifyEnrolmentProof(token?.key ?? hub.random(32), { host: body.host, wrapPublic, instance, ...asked }, proof);
  if (host === undefined || token === undefined) throw new RollcallError('unauthenticated');

  const usedBy = createHash('sha256')
    .update(wrapPublic)
    .update(asked === undefined ? '' : createHash('sha256').update(asked.csr).digest())
    .digest();
  const request = asked === undefined ? undefined : verifyCertificateRequest(asked.csr);
  if (token.state === 'used') {
    const outcome = await answerUsed(hub, tx, { token, host, usedBy, from, now });
    return outcome === 'repeated'
      ? { outcome, certificate: await certify(hub, tx, { host, request, from }) }
      : { outcome };
  }
  if (token.expires_at <= now) throw new RollcallError('unauthenticated');

  const key = parseOrMalformed(body.wrapKey.suite, wrapPublic);
  const held = await readHeldPins(tx, hub.vault, host);
  const decision = decidePublication(
    held,
    {
      key: key === undefined ? { state: 'malformed' } : { state: 'valid', fingerprint: key.fingerprint },
      with: 'enrolment',
    },
    { firstUseUntilMs: null, nowMs: now, trustFrozen: false },
  );
  const taken = asTaken(decision);
  if (key === undefined) throw new RollcallError('malformed_key');

  await spendEnrolmentToken(tx, hub.vault, token.id, { at: now, by: usedBy });
  const after = await takePin(hub, tx, host, taken.pin, key);
  await appendAudit(tx, {
    at: now,
    actor: enrolled(host.id),
    action: 'host.enrolled',
    target: host.id,
    outcome: 'done',
    details: {
      fingerprint: key.fingerprint,
      life: after.life,
      from,
      replaced: held.pin.state === 'pinned' && held.pin.fingerprint !== key.fingerprint ? held.pin.fingerprint : null,
    },
  });
  if (taken.alert !== null) hub.log.warn('a pin was replaced by enrolment', { host: host.id, ...taken.alert });
  return { outcome: 'enrolled', certificate: await certify(hub, tx, { host: after, request, from }) };
}

/** A request for a certificate comes with its use (design 11). */
function readAsked({
  csr: text,
  use,
}: EnrolBody): { readonly csr: Uint8Array; readonly csrUse: 'listener' } | undefined {
  if (text === undefined && use === undefined) return undefined;
  const csr = decodeBase64url(text ?? '');
  if (csr === undefined || csr.length === 0 || use !== 'listener') throw new RollcallError('malformed_request');
  return { csr, csrUse: use };
}

/** An authority that cannot issue is no reason to leave a host out: it asks again by proof of the key that was pinned now. */
async function certify(
  hub: Hub,
  tx: Tx,
  asked: { readonly host: HostRecord; readonly request: VerifiedRequest | undefined; readonly from: string },
): Promise<Uint8Array | undefined> {
  const { host, request, from } = asked;
  if (request === undefined) return undefined;
  try {
    return await issueListenerCertificate(hub, tx, { host, request, proof: 'enrolment', from });
  } catch (error) {
    if (!isRollcallError(error, 'unusable_authority') && !isRollcallError(error, 'hub_time_jumped')) throw error;
    hub.log.warn('a host enrols without the certificate that it asked for', { host: host.id, code: error.code });
    return undefined;
  }
}

/** Before the proof is verified the caller is a stranger, who is not told which row of the store is damaged. */
function withoutPlace(cause: unknown): never {
  if (!isRollcallError(cause, 'store_unreadable')) throw cause;
  throw new RollcallError('unavailable', { because: 'store_unreadable' }, { cause });
}

/** The same request is answered again for a while, since its answer may have been lost; any other is a second use. */
async function answerUsed(
  hub: Hub,
  tx: Tx,
  use: { token: EnrolmentTokenRecord; host: HostRecord; usedBy: Uint8Array; from: string; now: number },
): Promise<Exclude<Outcome, 'enrolled'>> {
  const { token, host, now } = use;
  const same = token.used_by !== null && equalBytes(token.used_by, use.usedBy);
  const recent = token.used_at !== null && now - token.used_at < limits.enrolmentRepeatMs;
  if (same && recent && host.status === 'active') return 'repeated';
  // Whoever found a spent token could fill the disk with records of it.
  const alertedAt = hub.roll.get(host.id)?.tokenReuseAlertedAt ?? null;
  if (alertedAt !== null && hub.clock.monotonic() - alertedAt < limits.tokenReuseAlertMs) return 'spent again';
  await appendAudit(tx, {
    at: now,
    actor: enrolled(host.id),
    action: 'host.enrolment_token_reused',
    target: host.id,
    outcome: 'refused',
    details: { from: use.from, sameKey: same },
  });
  return 'spent';
}

function asTaken(decision: PublicationDecision): Extract<PublicationDecision, { kind: 'taken' }> {
  switch (decision.kind) {
    case 'taken':
      return decision;
    case 'refused':
      throw new RollcallError(decision.code);
    case 'unavailable':
      throw new RollcallError('unavailable', { because: decision.because });
    default:
      throw new RollcallError('internal', {}, { cause: new Error(`an enrolment cannot be ${decision.kind}`) });
  }
}

function parseOrMalformed(suite: string, bytes: Uint8Array): WrapPublicKey | undefined {
  try {
    return parseWrapPublicKey({ suite, public: bytes });
  } catch {
    return undefined;
  }
}

function enrolled(host: string): Actor {
  return { id: host, kind: 'host', rung: 'enrolment', verified: true };
}
