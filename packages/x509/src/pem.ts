/** PEM, the text form of certificates and keys (RFC 7468, strict form). */
const LINE_CHARACTERS = 64;

/** One certificate in PEM, ending in a line feed. */
export function encodeCertificatePem(der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
