import type { JsonValue } from '@rollcall/core/json';
import { signStatement } from '@rollcall/core/seal';
import { describe, expect, it } from 'vitest';
import { durableState, hubKey, strangerKey } from './fleet.fixture.ts';
import { takeStatements } from './take-statements.ts';

const KIND = 'generation-in-force';
const T = '2026-03-01T12:00:00.000Z';
const T_MS = Date.parse(T);

function inForce(
  body: object,
  changes: { readonly time?: string; readonly epoch?: number; signer?: typeof hubKey } = {},
) {
  const { time = T, epoch = 1, signer = hubKey } = changes;
  return signStatement({ kind: KIND, epoch, time, body: body as never, hubKey: signer }) as JsonValue;
}

const heard = (timeMs: number, epoch = 1) => new Map([[KIND, { epoch, timeMs }]]);

describe('which generations are in force', () => {
  it.each([
    ['one', { generations: [4] }, { generations: [4] }],
    [
      'two, and for how long one goes on',
      { generations: [3, 4], verifyWindowMs: 60_000 },
      { generations: [3, 4], windowMs: 60_000 },
    ],
  ])('is what the hub says of %s', (_, body, said) => {
    const { inForce: taken, seen } = takeStatements(durableState(), new Map(), [inForce(body)]);
    expect(taken).toEqual({ ...said, hubTimeMs: T_MS });
    expect(seen.get(KIND)).toEqual({ epoch: 1, timeMs: T_MS });
  });

  it.each([
    ['signed by another', inForce({ generations: [4] }, { signer: strangerKey })],
    ['without generations', inForce({})],
    ['of three', inForce({ generations: [1, 2, 3] })],
    ['of texts', inForce({ generations: ['4'] })],
    ['with a window in words', inForce({ generations: [4], verifyWindowMs: '7d' })],
  ])('is not said by one %s, which spoils nothing else', (_, bad) => {
    const taken = takeStatements(durableState(), new Map(), [bad]);
    expect(taken.inForce).toBeUndefined();
    expect(taken.logs).toHaveLength(1);
    expect(takeStatements(durableState(), new Map(), [bad, inForce({ generations: [4] })]).inForce).toBeDefined();
  });

  it('is said anew by a later statement alone: a recorded one confirms nothing', () => {
    const earlier = inForce({ generations: [4] }, { time: '2026-03-01T11:59:59.999Z' });
    const same = inForce({ generations: [4] });
    const later = inForce({ generations: [4] }, { time: '2026-03-01T12:00:00.001Z' });
    const taken = (json: JsonValue, isConfirmed: boolean) =>
      takeStatements(durableState(), heard(T_MS), [json], isConfirmed).inForce !== undefined;
    expect([taken(earlier, true), taken(same, true), taken(later, true)]).toEqual([false, false, true]);
    // The hub signs once a minute: after a restart its last word is still its word.
    expect([taken(earlier, false), taken(same, false), taken(later, false)]).toEqual([false, true, true]);
    expect(takeStatements(durableState(), heard(T_MS, 2), [later], false).inForce).toBeUndefined();
  });

  it('is not written down, so that a start has to hear it anew', () => {
    const { next } = takeStatements(durableState(), new Map(), [inForce({ generations: [4] })]);
    expect(JSON.stringify([...Object.keys(next)])).not.toContain('onfirm');
    expect(next.statements.get(KIND)).toEqual({ epoch: 1, timeMs: T_MS });
  });
});
