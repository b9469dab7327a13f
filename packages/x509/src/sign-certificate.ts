/** Writes one certificate from its parts and signs it. Says nothing about what may be issued: callers do. */
import { createHash, type KeyObject, sign } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  KeyIdentifier,
  KeyUsage,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Random } from '@rollcall/core/ports';
import { signatureByCurve } from './algorithms.ts';
import { serialize } from './der.ts';
import { type ExtensionName, extensionOids, type KeyUsageName, keyUsageBits } from './extensions.ts';

export interface CertificateParts {
  /** Big-endian, unsigned. */
  readonly serial: Uint8Array;
  readonly issuerDer: Uint8Array;
  readonly subjectDer: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly spkiDer: Uint8Array;
  readonly extensions: readonly EncodedExtension[];
}

export interface EncodedExtension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** The DER of a certificate over these parts, signed by a P-256 or P-384 key. */
export function signCertificate(parts: CertificateParts, issuerKey: KeyObject): Uint8Array {
  const algorithm = signatureByCurve[issuerKey.asymmetricKeyDetails?.namedCurve ?? ''];
  if (issuerKey.type !== 'private' || algorithm === undefined)
    throw new TypeError('signCertificate: not a P-256 or P-384 private key');
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: algorithm.oid });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: unsignedInteger(parts.serial),
    signature: signatureAlgorithm,
    issuer: AsnConvert.parse(parts.issuerDer, Name),
    validity: new Validity({ notBefore: new Date(parts.notBeforeMs), notAfter: new Date(parts.notAfterMs) }),
    subject: AsnConvert.parse(parts.subjectDer, Name),
    subjectPublicKeyInfo: AsnConvert.parse(parts.spkiDer, SubjectPublicKeyInfo),
    extensions: new Extensions(parts.extensions.map(toExtension)),
  });
  const signature = sign(algorithm.hash, serialize(tbsCertificate), {
    key: issuerKey,
    dsaEncoding: 'der',
  });
  return serialize(new Certificate({ tbsCertificate, signatureAlgorithm, signatureValue: arrayBuffer(signature) }));
}

/** 128 random bits (design 6). A random source that gives nothing but zero is broken, and no serial. */
export function randomSerial(random: Random): Uint8Array {
  const serial = random(limits.certificateSerialBytes);
  if (serial.length !== limits.certificateSerialBytes || serial.every((byte) => byte === 0))
    throw new RollcallError('internal');
  return serial;
}

/** A distinguished name of one common name, cut to what X.520 allows: it is for people, the identity is the URI. */
export function encodeCommonName(commonName: string): Uint8Array {
  const value = new AttributeValue({ utf8String: commonName.slice(0, limits.commonNameCharacters) });
  return serialize(new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: '2.5.4.3', value })])]));
}

export function basicConstraints(options: { readonly isCa: boolean; readonly pathLength?: number }): EncodedExtension {
  const { isCa, pathLength } = options;
  const value = new BasicConstraints(
    pathLength === undefined ? { cA: isCa } : { cA: isCa, pathLenConstraint: pathLength },
  );
  return encoded('basicConstraints', true, value);
}

export function keyUsage(...names: readonly KeyUsageName[]): EncodedExtension {
  const bits = names.reduce((sum, name) => sum | (1 << keyUsageBits.indexOf(name)), 0);
  return encoded('keyUsage', true, new KeyUsage(bits));
}

export function extendedKeyUsage(...oids: readonly string[]): EncodedExtension {
  return encoded('extendedKeyUsage', false, new ExtendedKeyUsage([...oids]));
}

export function subjectAltName(names: {
  readonly uris: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}): EncodedExtension {
  const general = [
    ...names.uris.map((uri) => new GeneralName({ uniformResourceIdentifier: uri })),
    ...(names.dnsNames ?? []).map((name) => new GeneralName({ dNSName: name })),
    ...(names.ipAddresses ?? []).map((address) => new GeneralName({ iPAddress: address })),
  ];
  return encoded('subjectAltName', false, new SubjectAlternativeName(general));
}

export function subjectKeyIdentifier(spkiDer: Uint8Array): EncodedExtension {
  return encoded('subjectKeyIdentifier', false, new SubjectKeyIdentifier(keyIdentifier(spkiDer)));
}

export function authorityKeyIdentifier(issuerKeyId: Uint8Array): EncodedExtension {
  const value = new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(issuerKeyId) });
  return encoded('authorityKeyIdentifier', false, value);
}

/** Key identifier of RFC 7093 §2 method 1: the first 160 bits of SHA-256 over the public key's bits. */
function keyIdentifier(spkiDer: Uint8Array): Uint8Array {
  const { subjectPublicKey } = AsnConvert.parse(spkiDer, SubjectPublicKeyInfo);
  return createHash('sha256').update(new Uint8Array(subjectPublicKey)).digest().subarray(0, 20);
}

function encoded(name: ExtensionName, critical: boolean, value: unknown): EncodedExtension {
  return { oid: extensionOids[name], critical, value: serialize(value) };
}

function toExtension({ oid, critical, value }: EncodedExtension): Extension {
  return new Extension({ extnID: oid, critical, extnValue: new OctetString(value) });
}

/** The shortest two's complement form of an unsigned number (X.690 §8.3). */
function unsignedInteger(bytes: Uint8Array): ArrayBuffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = bytes.subarray(first === -1 ? bytes.length - 1 : first);
  return arrayBuffer((digits[0] ?? 0) < 0x80 ? digits : Uint8Array.of(0, ...digits));
}

function arrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
