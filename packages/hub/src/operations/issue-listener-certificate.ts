/** The certificate of a host's listener, in the transaction of whatever proved that it is the host (design 6). */
import { encodeHex } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import { assertTimeTrusted } from '@rollcall/core/rotation';
import { issueCertificate, listenerId, type VerifiedRequest } from '@rollcall/x509';
import type { Hub } from '../hub.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import {
  type CertificateRecord,
  deleteEndedCertificates,
  findCertificateOfKey,
  insertCertificate,
} from '../store/certificates.ts';
import type { HostRecord } from '../store/hosts.ts';
import type { Tx } from '../store/schema.ts';

export interface ListenerRequest {
  /** As it is in this transaction. */
  readonly host: HostRecord;
  readonly request: VerifiedRequest;
  readonly proof: 'enrolment' | 'pinned-key';
  readonly from: string;
  /** How far the clock of the host is behind, as far as it is known. */
  readonly behindMs?: number;
}

/**
 * DER. The same key is answered with the same certificate for ten minutes, since the answer may have been lost. Errors:
 * `unusable_authority`, `hub_time_jumped`.
 */
export async function issueListenerCertificate(
  hub: Pick<Hub, 'vault' | 'clock' | 'random' | 'log' | 'authority'>,
  tx: Tx,
  { host, request, proof, from, behindMs = 0 }: ListenerRequest,
): Promise<Uint8Array> {
  assertTimeTrusted(hub.clock.read());
  const nowMs = hub.clock.now();
  const wanted = { host: host.id, life: host.life, use: USE, key_sha256: encodeHex(request.spkiSha256) } as const;
  const former = await findCertificateOfKey(tx, hub.vault, wanted);
  if (former !== undefined && nowMs - former.issued_at < limits.enrolmentRepeatMs) return former.certificate;

  const { authority } = hub;
  const issued = issueCertificate({
    authority,
    subjectPublicKey: request.spkiDer,
    commonName: host.id,
    uri: listenerId(authority.trustDomain, host.id),
    usage: 'serverAuth',
    nowMs,
    lifeMs: limits.hostCertificateLifeMs,
    minLifeMs: limits.hostCertificateMinLifeMs,
    backdateMs: behindMs,
    random: hub.random,
  });
  const record: CertificateRecord = {
    ...wanted,
    serial: issued.serial,
    proof,
    authority: encodeHex(authority.certificate.spkiSha256),
    issued_at: nowMs,
    not_after: issued.notAfterMs,
    certificate: issued.certificateDer,
  };
  await deleteEndedCertificates(tx, host.id, nowMs - limits.endedCertificatesKeptMs);
  await insertCertificate(tx, hub.vault, record);
  await appendAudit(tx, { ...auditOf(record, from), actor: actorOf(host.id, proof), target: host.id, outcome: 'done' });
  if (issued.clamped) {
    hub.log.warn('a certificate ends with its authority, earlier than it was to', {
      code: 'authority_ends',
      host: host.id,
      notAfter: new Date(issued.notAfterMs).toISOString(),
    });
  }
  return issued.certificateDer;
}

const USE = 'listener';

function auditOf({ serial, life, use, key_sha256, proof, issued_at, not_after }: CertificateRecord, from: string) {
  const notAfter = new Date(not_after).toISOString();
  return {
    at: issued_at,
    action: 'certificate.issued',
    details: { serial, life, use, key: key_sha256, proof, notAfter, from },
  };
}

function actorOf(host: string, rung: string): Actor {
  return { id: host, kind: 'host', rung, verified: true };
}
