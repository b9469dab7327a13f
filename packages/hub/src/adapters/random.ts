/** Randomness and key pairs from the operating system. */
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Random } from '@rollcall/core/ports';

/** A call to the system costs 5 µs, whatever its size; a few bytes for each heartbeat's jitter are drawn from one call for many. */
const POOL_BYTES = 4_096;
const POOLED_MAX_BYTES = 8;

/** Never pooled where a key could be made of it. */
export const systemRandom: Random = withPool((n) => Uint8Array.from(randomBytes(n)));

function withPool(draw: Random): Random {
  let pool = new Uint8Array();
  let used = 0;
  return (n) => {
    if (n > POOLED_MAX_BYTES) return draw(n);
    if (used + n > pool.length) {
      pool = Uint8Array.from(draw(POOL_BYTES));
      used = 0;
    }
    used += n;
    return pool.subarray(used - n, used);
  };
}

/** A fresh P-256 key pair, for certificates. */
export function generateP256KeyPair(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}
