/** Random bytes that a seed decides, for tests. Never for a key that protects anything. */
import { utf8 } from '../bytes.ts';
import { hmacSha256 } from '../keys/sha256.ts';
import type { Random } from '../ports.ts';

/** The same seed gives the same bytes, in the order in which they are asked for, in whatever portions. */
export function seededRandom(seed: number | string): Random {
  const key = utf8(`rollcall/testing/${seed}`);
  let counter = 0;
  let block = new Uint8Array();
  let used = 0;
  return (n) => {
    const out = new Uint8Array(n);
    for (let at = 0; at < n; at += 1) {
      if (used === block.length) {
        block = new Uint8Array(hmacSha256(key, utf8(String(counter))));
        counter += 1;
        used = 0;
      }
      out[at] = block[used] as number;
      used += 1;
    }
    return out;
  };
}
