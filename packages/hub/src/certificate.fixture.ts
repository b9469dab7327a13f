/** For tests: a host that asks for the certificate of its listener, by enrolment or by proof of its pinned key. */
import type { KeyObject } from 'node:crypto';
import { decodeBase64url, encodeBase64url } from '@rollcall/core/bytes';
import { enrolmentKey, enrolmentProof, parseEnrolmentToken } from '@rollcall/core/keys';
import { answerChallenge, type WrapKeyPair } from '@rollcall/core/seal';
import type { CertificateAnswer, CertificateBody, EnrolBody } from '@rollcall/wire';
import { createCertificateRequest, type ParsedCertificate, parseCertificate } from '@rollcall/x509';
import { generateP256KeyPair } from './adapters/random.ts';
import type { TestHost } from './host.fixture.ts';
import type { TestHub } from './hub.fixture.ts';
import { certifyHost, challengeHost } from './operations/certify-host.ts';

export interface Asked {
  readonly privateKey: KeyObject;
  readonly csr: Uint8Array;
}

export function newRequest(commonName = 'agent-7'): Asked {
  const { privateKey } = generateP256KeyPair();
  return { privateKey, csr: createCertificateRequest(privateKey, commonName) };
}

/** Redeems `token` and asks for a certificate in the same request. */
export function enrolBodyWith(host: TestHost, token: string, csr: Uint8Array): EnrolBody {
  const body = host.enrolBody(token);
  const instance = decodeBase64url(body.instance) as Uint8Array;
  const claim = { host: host.id, wrapPublic: host.key.public.bytes, instance, csr, csrUse: 'listener' } as const;
  const proof = enrolmentProof(enrolmentKey(parseEnrolmentToken(token).secret), claim);
  return { ...body, csr: encodeBase64url(csr), use: 'listener', proof: encodeBase64url(proof) };
}

/** The body of `POST /v1/certificates` for a challenge that was just asked for and opened. */
export function proofBody(
  hub: TestHub,
  host: Pick<TestHost, 'id' | 'key'>,
  csr: Uint8Array,
  changes: Partial<CertificateBody> & { readonly key?: WrapKeyPair } = {},
): CertificateBody {
  const { key = host.key, ...rest } = changes;
  const { challenge } = challengeHost(hub, { host: host.id, purpose: 'certificate' });
  const { id, answer } = answerChallenge(challenge, {
    host: host.id,
    wrapKeys: [key],
    subject: { purpose: 'certificate', csr, csrUse: 'listener' },
  });
  return {
    host: host.id,
    id: encodeBase64url(id),
    answer: encodeBase64url(answer),
    csr: encodeBase64url(csr),
    use: 'listener',
    sentAt: new Date(hub.wall.now()).toISOString(),
    ...rest,
  };
}

export function certify(hub: TestHub, body: CertificateBody): Promise<CertificateAnswer> {
  return certifyHost(hub, { body, from: '192.0.2.1', takeTurn: () => undefined });
}

export function leafOf({ certificate = [] }: { readonly certificate?: readonly string[] }): ParsedCertificate {
  return parseCertificate(decodeBase64url(certificate[0] ?? '') ?? new Uint8Array());
}
