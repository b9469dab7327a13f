/**
 * Reads a certificate strictly. OpenSSL's reader takes much that may not stand in an X509-SVID, hides a second SAN
 * extension and ignores trailing DER (design 6); so what is read here must encode to the very same bytes again.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  type Extension,
  type GeneralName,
  KeyUsage,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  Version,
} from '@peculiar/asn1-x509';
import { encodeHex, equalBytes } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { parseExactly, serialize } from './der.ts';
import { type ExtensionName, extensionOids, type KeyUsageName, keyUsageBits, usageOids } from './extensions.ts';

export interface ParsedCertificate {
  /** The certificate itself; what was read from it is read from exactly these bytes. */
  readonly der: Uint8Array;
  /** Lower-case hex of the serial's bytes. */
  readonly serial: string;
  readonly issuerDer: Uint8Array;
  readonly subjectDer: Uint8Array;
  readonly notBeforeMs: number;
  /** The last instant at which it is valid. */
  readonly notAfterMs: number;
  readonly uris: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ips: readonly string[];
  readonly isCa: boolean;
  readonly pathLength: number | undefined;
  readonly keyUsage: ReadonlySet<KeyUsageName>;
  /** `serverAuth`, `clientAuth`, or the dotted number of any other purpose. */
  readonly extendedKeyUsage: readonly string[];
  readonly critical: ReadonlySet<ExtensionName>;
  readonly subjectKeyId: Uint8Array | undefined;
  readonly authorityKeyId: Uint8Array | undefined;
  readonly spkiDer: Uint8Array;
  /** SHA-256 of the SubjectPublicKeyInfo, 32 raw bytes. */
  readonly spkiSha256: Uint8Array;
  /** Dotted number. */
  readonly signatureAlgorithm: string;
}

/** What `der` says, or `malformed_certificate` with `details.reason`. Verifies no signature and judges no date. */
export function parseCertificate(der: Uint8Array): ParsedCertificate {
  if (der.length > limits.certificateMaxBytes) throw malformed('too_large');
  try {
    return read(Uint8Array.from(der));
  } catch (error) {
    // The ASN.1 reader throws whatever it likes, and its texts repeat the input: none of it goes on.
    throw error instanceof RollcallError ? error : malformed('not_der');
  }
}

/** SHA-256 of the SubjectPublicKeyInfo of a certificate: what an enrolment token pins. */
export function spkiSha256(der: Uint8Array): Uint8Array {
  return parseCertificate(der).spkiSha256;
}

function read(der: Uint8Array): ParsedCertificate {
  const certificate = parseExactly(der, Certificate, malformed);
  const tbs = certificate.tbsCertificate;
  if (tbs.version !== Version.v3) throw malformed('version');
  if (!equalBytes(serialize(tbs.signature), serialize(certificate.signatureAlgorithm)))
    throw malformed('signature_algorithm');
  const spkiDer = serialize(tbs.subjectPublicKeyInfo);
  const extensions = readExtensions(tbs.extensions ?? []);
  return {
    der,
    serial: readSerial(tbs.serialNumber),
    issuerDer: serialize(tbs.issuer),
    subjectDer: serialize(tbs.subject),
    ...readValidity(tbs.validity.notBefore.getTime().getTime(), tbs.validity.notAfter.getTime().getTime()),
    ...readNames(extensions.get('subjectAltName')),
    ...readBasicConstraints(extensions.get('basicConstraints')),
    keyUsage: readKeyUsage(extensions.get('keyUsage')),
    extendedKeyUsage: readExtendedKeyUsage(extensions.get('extendedKeyUsage')),
    critical: new Set([...extensions].filter(([, { critical }]) => critical).map(([name]) => name)),
    subjectKeyId: readSubjectKeyId(extensions.get('subjectKeyIdentifier')),
    authorityKeyId: readAuthorityKeyId(extensions.get('authorityKeyIdentifier')),
    spkiDer,
    spkiSha256: Uint8Array.from(createHash('sha256').update(spkiDer).digest()),
    signatureAlgorithm: certificate.signatureAlgorithm.algorithm,
  };
}

const namesByOid = new Map(Object.entries(extensionOids).map(([name, oid]) => [oid, name as ExtensionName]));

/** RFC 5280 §4.2: no extension twice; a critical one that is not understood makes the certificate unusable. */
function readExtensions(extensions: readonly Extension[]): ReadonlyMap<ExtensionName, Extension> {
  const seen = new Set<string>();
  const known = new Map<ExtensionName, Extension>();
  for (const extension of extensions) {
    if (seen.has(extension.extnID)) throw malformed('duplicate_extension');
    seen.add(extension.extnID);
    const name = namesByOid.get(extension.extnID);
    if (name !== undefined) known.set(name, extension);
    else if (extension.critical || CONSTRAINING.has(extension.extnID)) throw malformed('unknown_critical_extension');
  }
  return known;
}

/** Name and policy constraints narrow what an authority may do; not to understand them is to refuse, critical or not. */
const CONSTRAINING: ReadonlySet<string> = new Set(['2.5.29.30', '2.5.29.36', '2.5.29.54']);

function readSerial(serial: ArrayBuffer): string {
  const bytes = new Uint8Array(serial);
  const isPositive = (bytes[0] ?? 0x80) < 0x80 && bytes.some((byte) => byte !== 0);
  if (!isPositive || bytes.length > 20) throw malformed('serial');
  return encodeHex(bytes[0] === 0 ? bytes.subarray(1) : bytes);
}

function readValidity(notBeforeMs: number, notAfterMs: number): Pick<ParsedCertificate, 'notBeforeMs' | 'notAfterMs'> {
  if (!(notBeforeMs <= notAfterMs)) throw malformed('validity');
  return { notBeforeMs, notAfterMs };
}

function readNames(extension: Extension | undefined): Pick<ParsedCertificate, 'uris' | 'dnsNames' | 'ips'> {
  if (extension === undefined) return { uris: [], dnsNames: [], ips: [] };
  const names = [...parseValue(extension, SubjectAlternativeName)];
  if (names.length === 0 || names.length > limits.certificateNames) throw malformed('subject_alt_name');
  const uris = names.flatMap(({ uniformResourceIdentifier: uri }) => (uri === undefined ? [] : [visible(uri)]));
  const dnsNames = names.flatMap(({ dNSName }) => (dNSName === undefined ? [] : [visible(dNSName)]));
  const ips = names.flatMap(({ iPAddress }) => (iPAddress === undefined ? [] : [address(iPAddress)]));
  // A kind of name that nobody here reads would be an identity that nobody judged.
  if (uris.length + dnsNames.length + ips.length !== names.length) throw malformed('subject_alt_name');
  return { uris, dnsNames, ips };
}

function visible(text: NonNullable<GeneralName['dNSName']>): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw malformed('subject_alt_name');
  return text;
}

function address(text: string): string {
  if (isIP(text) === 0) throw malformed('subject_alt_name');
  return text;
}

function readBasicConstraints(extension: Extension | undefined): Pick<ParsedCertificate, 'isCa' | 'pathLength'> {
  if (extension === undefined) return { isCa: false, pathLength: undefined };
  const { cA, pathLenConstraint } = parseValue(extension, BasicConstraints);
  const isSound =
    pathLenConstraint === undefined || (cA && Number.isSafeInteger(pathLenConstraint) && pathLenConstraint >= 0);
  if (!isSound) throw malformed('basic_constraints');
  return { isCa: cA, pathLength: pathLenConstraint };
}

/** A named bit list ends in a set bit (X.690 §11.2.2), so it has one form, and is never empty. */
function readKeyUsage(extension: Extension | undefined): ReadonlySet<KeyUsageName> {
  if (extension === undefined) return new Set();
  const { value, unusedBits } = parseValue(extension, KeyUsage);
  const bits = new Uint8Array(value);
  if ((((bits.at(-1) ?? 0) >> unusedBits) & 1) === 0 || bits.length > 2) throw malformed('key_usage');
  return new Set(keyUsageBits.filter((_, bit) => ((bits[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0));
}

function readExtendedKeyUsage(extension: Extension | undefined): readonly string[] {
  if (extension === undefined) return [];
  const oids = [...parseValue(extension, ExtendedKeyUsage)];
  if (oids.length === 0) throw malformed('extended_key_usage');
  return oids.map((oid) => Object.entries(usageOids).find(([, known]) => known === oid)?.[0] ?? oid);
}

function readSubjectKeyId(extension: Extension | undefined): Uint8Array | undefined {
  return extension && new Uint8Array(parseValue(extension, SubjectKeyIdentifier).buffer);
}

function readAuthorityKeyId(extension: Extension | undefined): Uint8Array | undefined {
  const id = extension && parseValue(extension, AuthorityKeyIdentifier).keyIdentifier;
  return id && new Uint8Array(id.buffer);
}

function parseValue<T>(extension: Extension, type: new () => T): T {
  return parseExactly(new Uint8Array(extension.extnValue.buffer), type, malformed);
}

function malformed(reason: string): RollcallError<'malformed_certificate'> {
  return new RollcallError('malformed_certificate', { reason });
}
