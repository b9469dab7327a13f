/** A self-signed root authority of a trust domain (design 6). */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { equalBytes } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import type { Random } from '@rollcall/core/ports';
import { signatureByCurve } from './algorithms.ts';
import { type ParsedCertificate, parseCertificate } from './parse-certificate.ts';
import { encodeCertificatePem } from './pem.ts';
import {
  basicConstraints,
  encodeCommonName,
  keyUsage,
  randomSerial,
  signCertificate,
  subjectAltName,
  subjectKeyIdentifier,
} from './sign-certificate.ts';
import { parseSpiffeId, trustDomainId } from './spiffe-id.ts';
import { backdated, wholeSeconds } from './validity.ts';

/** Makes a new P-256 or P-384 pair. A port, since only adapters and `main.ts` files make keys (design 2). */
export type KeyPairPort = () => { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

/**
 * What signs: a certificate and its key. A class, so that the key's bytes are no field: they are exported on demand,
 * and neither `util.inspect`, `JSON.stringify` nor a spread ever shows them (I12).
 */
export class Authority {
  readonly trustDomain: string;
  readonly certificate: ParsedCertificate;
  readonly privateKey: KeyObject;

  constructor(trustDomain: string, certificate: ParsedCertificate, privateKey: KeyObject) {
    this.trustDomain = trustDomain;
    this.certificate = certificate;
    this.privateKey = privateKey;
  }

  get certificateDer(): Uint8Array {
    return this.certificate.der;
  }

  get certificatePem(): string {
    return encodeCertificatePem(this.certificate.der);
  }

  /** PKCS #8 in DER, in clear: to be encrypted and stored, never shown. */
  get privateKeyPkcs8(): Uint8Array {
    return Uint8Array.from(this.privateKey.export({ format: 'der', type: 'pkcs8' }));
  }
}

/**
 * A new root for `trustDomain`: CA, keyCertSign and cRLSign, its URI the trust domain itself. Its key is durable
 * nowhere yet: store it before anything is signed (I11).
 */
export function createAuthority(request: {
  readonly trustDomain: string;
  readonly commonName: string;
  readonly generateKeyPair: KeyPairPort;
  readonly random: Random;
  readonly nowMs: number;
  readonly lifeMs: number;
}): Authority {
  const { trustDomain, commonName, random, nowMs, lifeMs } = request;
  const { publicKey, privateKey } = request.generateKeyPair();
  const spkiDer = exportSpki(publicKey);
  const name = encodeCommonName(commonName);
  const certificateDer = signCertificate(
    {
      serial: randomSerial(random),
      issuerDer: name,
      subjectDer: name,
      notBeforeMs: backdated(nowMs),
      notAfterMs: wholeSeconds(nowMs + lifeMs),
      spkiDer,
      extensions: [
        basicConstraints({ isCa: true }),
        keyUsage('keyCertSign', 'cRLSign'),
        subjectKeyIdentifier(spkiDer),
        subjectAltName({ uris: [trustDomainId(trustDomain)] }),
      ],
    },
    privateKey,
  );
  return assemble(certificateDer, privateKey);
}

/** An authority from what was stored of it. A key that is not the certificate's is `unusable_authority`. */
export function restoreAuthority(stored: {
  readonly certificateDer: Uint8Array;
  readonly privateKeyPkcs8: Uint8Array;
}): Authority {
  return assemble(stored.certificateDer, importPrivateKey(stored.privateKeyPkcs8));
}

/** The SubjectPublicKeyInfo of a P-256 or P-384 key, or `unusable_subject_key`. */
export function exportSpki(publicKey: KeyObject | Uint8Array): Uint8Array {
  const key = publicKey instanceof Uint8Array ? importSpki(publicKey) : publicKey;
  const isTaken = key.type === 'public' && Object.hasOwn(signatureByCurve, key.asymmetricKeyDetails?.namedCurve ?? '');
  if (!isTaken) throw new RollcallError('unusable_subject_key');
  return Uint8Array.from(key.export({ format: 'der', type: 'spki' }));
}

function assemble(certificateDer: Uint8Array, privateKey: KeyObject): Authority {
  const certificate = parseCertificate(certificateDer);
  const { trustDomain } = parseSpiffeId(certificate.uris[0] ?? '');
  const isOne = certificate.isCa && certificate.keyUsage.has('keyCertSign') && certificate.uris.length === 1;
  if (!isOne || certificate.uris[0] !== trustDomainId(trustDomain)) throw unusable('not_an_authority');
  if (!equalBytes(exportSpki(createPublicKey(privateKey)), certificate.spkiDer)) throw unusable('key_of_another');
  return new Authority(trustDomain, certificate, privateKey);
}

function importSpki(der: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  } catch {
    throw new RollcallError('unusable_subject_key');
  }
}

function importPrivateKey(pkcs8: Uint8Array): KeyObject {
  try {
    return createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' });
  } catch {
    throw unusable('unreadable_key');
  }
}

function unusable(reason: string): RollcallError<'unusable_authority'> {
  return new RollcallError('unusable_authority', { reason });
}
