/**
 * Requests for certificates (PKCS #10, RFC 2986): made on a host, read strictly by the hub, which takes nothing from one but
 * the public key (design 6). Names that are asked for are not read: the hub decides them.
 */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import { AlgorithmIdentifier, Name, SubjectPublicKeyInfo } from '@peculiar/asn1-x509';
import { equalBytes } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { acceptedSignatures, signatureByCurve } from './algorithms.ts';
import { exportSpki } from './create-authority.ts';
import { parseExactly, serialize } from './der.ts';
import { encodeCommonName } from './sign-certificate.ts';

/** A request whose signature was verified: whoever made it holds the key. */
export interface VerifiedRequest {
  /** SubjectPublicKeyInfo in DER. */
  readonly spkiDer: Uint8Array;
  /** SHA-256 of it, 32 raw bytes. */
  readonly spkiSha256: Uint8Array;
}

/** The DER of a request by this P-256 or P-384 key. The common name is for people. */
export function createCertificateRequest(privateKey: KeyObject, commonName: string): Uint8Array {
  const algorithm = signatureByCurve[privateKey.asymmetricKeyDetails?.namedCurve ?? ''];
  if (privateKey.type !== 'private' || algorithm === undefined) throw new RollcallError('unusable_subject_key');
  const certificationRequestInfo = new CertificationRequestInfo({
    subject: AsnConvert.parse(encodeCommonName(commonName), Name),
    subjectPKInfo: AsnConvert.parse(exportSpki(createPublicKey(privateKey)), SubjectPublicKeyInfo),
  });
  const signature = sign(algorithm.hash, serialize(certificationRequestInfo), { key: privateKey, dsaEncoding: 'der' });
  return serialize(
    new CertificationRequest({
      certificationRequestInfo,
      signatureAlgorithm: new AlgorithmIdentifier({ algorithm: algorithm.oid }),
      signature: Uint8Array.from(signature).buffer,
    }),
  );
}

/**
 * The key that `der` asks a certificate for. Errors: `malformed_certificate_request` with `details.reason`, and
 * `unusable_subject_key` for a key of another kind.
 */
export function verifyCertificateRequest(der: Uint8Array): VerifiedRequest {
  if (der.length > limits.certificateRequestMaxBytes) throw malformed('too_large');
  try {
    return read(Uint8Array.from(der));
  } catch (error) {
    // As with certificates: texts of the ASN.1 reader repeat the input.
    throw error instanceof RollcallError ? error : malformed('not_der');
  }
}

function read(der: Uint8Array): VerifiedRequest {
  const request = parseExactly(der, CertificationRequest, malformed);
  const info = request.certificationRequestInfo;
  if (info.version !== 0) throw malformed('version');
  assertAttributes(info);
  const spkiDer = serialize(info.subjectPKInfo);
  // What OpenSSL makes of the key must be the very bytes that go into the certificate: no compressed point, no spelled-out curve.
  if (!equalBytes(exportSpki(spkiDer), spkiDer)) throw malformed('key_not_canonical');
  if (new Uint8Array(info.subjectPKInfo.subjectPublicKey)[0] !== UNCOMPRESSED) throw malformed('key_not_canonical');
  const hash = acceptedSignatures.get(request.signatureAlgorithm.algorithm);
  // RFC 5758 §3.2: without parameters.
  if (hash === undefined || request.signatureAlgorithm.parameters !== undefined) throw malformed('signature_algorithm');
  const key = createPublicKey({ key: Buffer.from(spkiDer), format: 'der', type: 'spki' });
  const signed = serialize(info);
  if (!verify(hash, signed, { key, dsaEncoding: 'der' }, new Uint8Array(request.signature)))
    throw malformed('signature');
  return { spkiDer, spkiSha256: Uint8Array.from(createHash('sha256').update(spkiDer).digest()) };
}

/** First byte of an uncompressed point (SEC 1 §2.3.3). */
const UNCOMPRESSED = 4;

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

/** Names may be asked for, once; whatever else stands there nobody here reads, so it is refused. */
function assertAttributes({ attributes }: CertificationRequestInfo): void {
  if (attributes.length > 1 || attributes.some(({ type }) => type !== EXTENSION_REQUEST)) throw malformed('attributes');
}

function malformed(reason: string): RollcallError<'malformed_certificate_request'> {
  return new RollcallError('malformed_certificate_request', { reason });
}
