import { expect, it } from 'vitest';
import { A, unpinned } from '../pins/held.fixture.ts';
import { decidePublication } from '../pins/index.ts';
import { createTokenVerifier } from '../verify/index.ts';
import { tokenRotation } from './holder.fixture.ts';
import { replicaAccepts } from './holder.ts';
import { now } from './roll.fixture.ts';
import { whatTokenThiefCanStillDo } from './token-leak.ts';
import { oldTokenVerifies } from './token-start.ts';

const texts = new Map([
  [1, 'the-token-that-has-leaked-somewhere'],
  [2, 'the-token-that-was-drawn-after-that'],
]);
const verdicts = (nowMs: number) =>
  new Map(
    whatTokenThiefCanStillDo({ from: 1, to: 2, verifyUntilMs: now + 100, nowMs }).map((row) => [row.act, row.verdict]),
  );

/** Whether a replica in `rolling` takes the leaked text at this moment. */
function isTaken(nowMs: number): boolean {
  const rotation = tokenRotation('rolling', {
    reason: 'leak',
    terms: { auto: 'off', batch: 1, narrowByMs: now + 100 },
  });
  const [current = 0, next] = replicaAccepts(rotation, oldTokenVerifies(rotation, nowMs));
  const entry = (version: number) => ({ version, value: texts.get(version) ?? '' });
  const verifier = createTokenVerifier({
    current: entry(current),
    ...(next === undefined ? {} : { next: entry(next) }),
  });
  try {
    return verifier.verify(texts.get(1) ?? '').version === 1;
  } catch {
    return false;
  }
}

it.each([now, now + 99, now + 100, now + 10_000])('what it says of membership is what verifies, at %d', (nowMs) => {
  for (const act of ['be_a_member', 'say_alive'] as const)
    expect(verdicts(nowMs).get(act) === 'can').toBe(isTaken(nowMs));
  expect([verdicts(nowMs).get('be_a_host'), verdicts(nowMs).get('sleeping_host')]).toEqual(['cannot', 'may']);
});

it('what it says of pins is what is decided of a publication with a shared token', () => {
  const policy = { firstUseUntilMs: now + 1, nowMs: now, trustFrozen: false };
  const key = { state: 'valid', fingerprint: A } as const;
  const decide = (published: 'fleet-token' | 'derived') =>
    decidePublication({ ...unpinned, firstUse: A }, { key, with: published }, policy).kind;
  expect([decide('fleet-token'), decide('derived')]).toEqual(['kept', 'taken']);
  expect(verdicts(now).get('replace_pin')).toBe('cannot');
});
