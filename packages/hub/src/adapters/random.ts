/** Randomness and key pairs from the operating system. */
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Random } from '@rollcall/core/ports';

export const systemRandom: Random = (n) => Uint8Array.from(randomBytes(n));

/** A fresh P-256 key pair, for certificates. */
export function generateP256KeyPair(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}
