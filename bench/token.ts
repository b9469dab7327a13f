/**
 * Verification of a shared token of two versions against the one hash that it cannot do without; and a Fastify that is guarded by it
 * against one that is guarded by @fastify/bearer-auth.
 */
import { hash, randomBytes } from 'node:crypto';
import { encodeToken } from '@rollcall/core/keys';
import { createTokenVerifier } from '@rollcall/core/verify';
import { atLeast, type BenchResult, figure, measureInterleaved } from './measure.ts';
import { benchGuards } from './token/guards.ts';

/** So many copies of the token take turns: a hash of the very same text is not quicker, and this shows it. */
const COPIES = 1_000;

export async function benchToken(): Promise<BenchResult[]> {
  const current = encodeToken('rcf', randomBytes(32));
  const next = encodeToken('rcf', randomBytes(32));
  const verifier = createTokenVerifier({ current: { version: 4, value: current }, next: { version: 5, value: next } });
  const presented = Array.from({ length: COPIES }, (_, index) =>
    Buffer.from(index % 2 === 0 ? current : next, 'latin1').toString('latin1'),
  );
  let turn = 0;
  const measured = await measureInterleaved({
    verify: () => verifier.verify(presented[turn++ % COPIES] as string),
    limit: () => hash('sha256', presented[turn++ % COPIES] as string, 'buffer'),
  });
  return [
    figure('token.per_second', measured.rate('verify'), '1/s'),
    atLeast('token.of_limit', measured.ratio('verify', 'limit'), 'of one bare SHA-256', 0.6),
    ...(await benchGuards()),
  ];
}
