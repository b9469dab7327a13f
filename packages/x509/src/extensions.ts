/** The extensions that are written and read: one row each (RFC 5280 §4.2.1). */
import {
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
} from '@peculiar/asn1-x509';

export type ExtensionName =
  | 'basicConstraints'
  | 'keyUsage'
  | 'extendedKeyUsage'
  | 'subjectAltName'
  | 'subjectKeyIdentifier'
  | 'authorityKeyIdentifier';

export const extensionOids: Readonly<Record<ExtensionName, string>> = {
  basicConstraints: id_ce_basicConstraints,
  keyUsage: id_ce_keyUsage,
  extendedKeyUsage: id_ce_extKeyUsage,
  subjectAltName: id_ce_subjectAltName,
  subjectKeyIdentifier: id_ce_subjectKeyIdentifier,
  authorityKeyIdentifier: id_ce_authorityKeyIdentifier,
};

export type KeyUsageName =
  | 'digitalSignature'
  | 'nonRepudiation'
  | 'keyEncipherment'
  | 'dataEncipherment'
  | 'keyAgreement'
  | 'keyCertSign'
  | 'cRLSign'
  | 'encipherOnly'
  | 'decipherOnly';

/** By bit number, RFC 5280 §4.2.1.3. */
export const keyUsageBits: readonly KeyUsageName[] = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
];

/** The side of TLS that a certificate speaks for. */
export type CertificateUsage = 'serverAuth' | 'clientAuth';

export const usageOids: Readonly<Record<CertificateUsage, string>> = {
  serverAuth: id_kp_serverAuth,
  clientAuth: id_kp_clientAuth,
};
