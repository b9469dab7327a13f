/** The signature algorithms and curves that are taken: one row each, all about one in it. */
import { id_ecdsaWithSHA256, id_ecdsaWithSHA384, id_ecdsaWithSHA512 } from '@peculiar/asn1-ecc';

/** How an authority signs, by the name that node:crypto gives its curve. */
export const signatureByCurve: Readonly<Record<string, { readonly hash: 'sha256' | 'sha384'; readonly oid: string }>> =
  {
    prime256v1: { hash: 'sha256', oid: id_ecdsaWithSHA256 },
    secp384r1: { hash: 'sha384', oid: id_ecdsaWithSHA384 },
  };

/** What a signature on what is presented may be, with its hash. No SHA-1, no RSA: only fleet authorities sign here (design 6). */
export const acceptedSignatures: ReadonlyMap<string, 'sha256' | 'sha384' | 'sha512'> = new Map([
  [id_ecdsaWithSHA256, 'sha256'],
  [id_ecdsaWithSHA384, 'sha384'],
  [id_ecdsaWithSHA512, 'sha512'],
]);
