/** DER by declared structures: what is read must encode to the very same bytes again, so that one value has one form. */
import { AsnConvert } from '@peculiar/asn1-schema';
import { equalBytes } from '@rollcall/core/bytes';

/** Parsed, and proven to be the whole of `der` in its one form (X.690 §10): trailing bytes and BER do not pass. */
export function parseExactly<T>(der: Uint8Array, type: new () => T, refuse: (reason: 'not_canonical') => Error): T {
  const value = AsnConvert.parse(der, type);
  if (!equalBytes(serialize(value), der)) throw refuse('not_canonical');
  return value;
}

export function serialize(value: unknown): Uint8Array {
  return new Uint8Array(AsnConvert.serialize(value));
}
