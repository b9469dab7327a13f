/** LabeledExtract and LabeledExpand of one suite (RFC 9180 §4). Labels are bound first, since they never change. */
import { concatBytes, utf8 } from '../bytes.ts';
import { hkdfExpand, hkdfExtract } from '../keys/hkdf-sha256.ts';

export interface LabeledKdf {
  extract(label: string): (salt: Uint8Array, ikm: Uint8Array) => Uint8Array;
  expand(label: string, lengthBytes: number): (prk: Uint8Array, ...info: readonly Uint8Array[]) => Uint8Array;
}

export function createLabeledKdf(suiteId: Uint8Array): LabeledKdf {
  const prefix = concatBytes(utf8('HPKE-v1'), suiteId);
  return {
    extract(label) {
      const labeled = concatBytes(prefix, utf8(label));
      return (salt, ikm) => hkdfExtract(salt, labeled, ikm);
    },
    expand(label, lengthBytes) {
      const labeled = concatBytes(Uint8Array.of(lengthBytes >> 8, lengthBytes & 0xff), prefix, utf8(label));
      return (prk, ...info) => hkdfExpand(prk, lengthBytes, labeled, ...info);
    },
  };
}
