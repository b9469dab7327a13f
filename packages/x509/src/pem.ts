/** PEM, the text form of certificates and keys (RFC 7468, strict form). */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';

const BLOCK = /-----BEGIN CERTIFICATE-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE-----/g;
const LINE_CHARACTERS = 64;

/** One certificate in PEM, ending in a line feed. */
export function encodeCertificatePem(der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

/**
 * The DER of every certificate of a PEM text, in its order: at least one. Text between blocks is a comment, but half
 * a block is not: it is `malformed_certificate`, as is an empty text (unreadable is not absent, I10).
 */
export function parseCertificatesPem(text: string): readonly Uint8Array[] {
  const found = [...text.matchAll(BLOCK)].map(([, base64 = '']) => decodeBase64(base64.replaceAll(/[\r\n]/g, '')));
  const marks = text.match(/-----(?:BEGIN|END) /g)?.length ?? 0;
  if (found.length === 0 || marks !== 2 * found.length) throw malformed('pem');
  if (found.length > limits.trustBundleRoots) throw malformed('too_many');
  return found;
}

function decodeBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw malformed('pem');
  return Uint8Array.from(bytes);
}

function malformed(reason: string): RollcallError<'malformed_certificate'> {
  return new RollcallError('malformed_certificate', { reason });
}
