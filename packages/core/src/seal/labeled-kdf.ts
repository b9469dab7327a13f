/** LabeledExtract and LabeledExpand of one suite (RFC 9180 §4). */
import { concatBytes, utf8 } from '../bytes.ts';
import { hkdfExpand, hkdfExtract } from '../keys/hkdf-sha256.ts';

export interface LabeledKdf {
  extract(salt: Uint8Array, label: string, ikm: Uint8Array): Uint8Array;
  expand(prk: Uint8Array, label: string, info: Uint8Array, lengthBytes: number): Uint8Array;
}

const VERSION = utf8('HPKE-v1');

export function createLabeledKdf(suiteId: Uint8Array): LabeledKdf {
  const prefix = concatBytes(VERSION, suiteId);
  return {
    extract: (salt, label, ikm) => hkdfExtract(salt, prefix, utf8(label), ikm),
    expand: (prk, label, info, lengthBytes) => {
      const length = Uint8Array.of(lengthBytes >> 8, lengthBytes & 0xff);
      return hkdfExpand(prk, concatBytes(length, prefix, utf8(label), info), lengthBytes);
    },
  };
}
