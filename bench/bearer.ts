/** Verification of a derived bearer over two generations against the least hashing that it can be done with. */
import { hash, randomBytes } from 'node:crypto';
import { deriveHostKey, encodeToken } from '@rollcall/core/keys';
import { createBearerVerifier } from '@rollcall/core/verify';
import { atLeast, type BenchResult, figure, measureInterleaved } from './measure.ts';

/** So many hosts take turns: more than a branch predictor remembers. */
const HOSTS = 1_000;

export async function benchBearer(): Promise<BenchResult[]> {
  const generations = [4, 5].map((version) => ({ version, master: new Uint8Array(randomBytes(32)) }));
  const bearers = Array.from({ length: HOSTS }, (_, index) => {
    const host = `agent-${index}`;
    const master = generations[index % 2]?.master as Uint8Array;
    return { host, token: encodeToken('rcb', deriveHostKey(master, 'heartbeat', host, 1)) };
  });
  const verify = createBearerVerifier(generations);
  const inner = randomBytes(64 + 40);
  const outer = randomBytes(64 + 32);
  let turn = 0;

  const measured = await measureInterleaved({
    verify: () => {
      const { host, token } = bearers[turn++ % HOSTS] as { host: string; token: string };
      return verify(host, 1, token);
    },
    // The limit: two HMAC-SHA256, each as two hashes over fixed buffers.
    limit: () => {
      for (let generation = 0; generation < 2; generation += 1) {
        outer.set(hash('sha256', inner, 'buffer'), 64);
        hash('sha256', outer, 'buffer');
      }
    },
  });

  return [
    figure('bearer.per_second', measured.rate('verify'), '1/s'),
    atLeast('bearer.of_limit', measured.ratio('verify', 'limit'), 'of two bare HMAC-SHA256', 0.5),
  ];
}
