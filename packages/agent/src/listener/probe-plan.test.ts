import { describe, expect, it } from 'vitest';
import { seededRandom } from '../fleet.fixture.ts';
import { createAcceptance } from './acceptance.ts';
import { dropping, holding, tokenStep, tokenText } from './listener.fixture.ts';
import { hasPassed, performProbe, planAgain, planProbe } from './probe-plan.ts';

const at = { random: seededRandom('probe'), now: () => 0 };
const versions = (list: readonly { readonly version: number }[]) => list.map(({ version }) => version);

/** A listener that takes what an assignment says. */
function listener(step: ReturnType<typeof tokenStep>) {
  const acceptance = createAcceptance(holding([step]));
  return async (token: string) => {
    try {
      acceptance.verifyToken(token);
      return 'taken' as const;
    } catch {
      return 'refused' as const;
    }
  };
}

describe('a plan', () => {
  it.each([
    ['a first step', undefined, tokenStep(1, [1]), [1], []],
    ['a widening', tokenStep(1, [1]), tokenStep(2, [1, 2], 1), [1, 2], []],
    ['a roll', tokenStep(2, [1, 2], 1), tokenStep(3, [1, 2], 2), [1, 2], []],
    ['a narrowing', tokenStep(3, [1, 2], 2), tokenStep(4, [2]), [2], [1]],
    ['a rollback', tokenStep(3, [1, 2], 2), tokenStep(4, [1]), [1], [2]],
  ])('of %s names what is to be taken, and what no more', (_, before, now, takes, refuses) => {
    const plan = planProbe(before, now);
    expect([versions(plan.expectTaken), versions(plan.expectRefused)]).toEqual([takes, refuses]);
    expect(planAgain(now).expectRefused).toEqual([]);
  });

  it.each([
    ['a narrowing that is known from before', tokenStep(3, [1, 2], 2), dropping(tokenStep(4, [2]), 1), [1]],
    ['a narrowing after a start', undefined, dropping(tokenStep(4, [2]), 1), [1]],
    ['a rollback after a start', undefined, dropping(tokenStep(4, [1]), 2), [2]],
    ['a step that skips some', tokenStep(1, [1]), dropping(tokenStep(9, [3]), 2), [2, 1]],
    ['the last step, which forgets it', dropping(tokenStep(4, [2]), 1), tokenStep(5, [2]), []],
  ])('of %s asks what the step names', (_, before, now, refuses) => {
    expect(versions(planProbe(before, now).expectRefused)).toEqual(refuses);
    expect(versions(planAgain(now).expectRefused)).toEqual(versions(now.refuse ?? []));
    expect(versions(planProbe(before, now).expectTaken)).toEqual(versions(now.accept));
  });

  it('does not show its values', () => {
    expect(JSON.stringify(planAgain(dropping(tokenStep(4, [2]), 1)))).not.toContain(tokenText(1));
    expect(JSON.stringify(planProbe(tokenStep(3, [1, 2], 2), tokenStep(4, [2])))).not.toContain(tokenText(1));
  });
});

describe('a probe', () => {
  const plan = planProbe(tokenStep(3, [1, 2], 2), tokenStep(4, [2]));

  it('passes on a listener that does what it was told', async () => {
    const report = await performProbe(plan, listener(tokenStep(4, [2])), at);
    expect(report).toEqual({
      secret: 'api',
      step: 4,
      takes: [2],
      refuses: [1],
      randomRefused: true,
      at: '1970-01-01T00:00:00.000Z',
    });
    expect(hasPassed(plan, report)).toBe(true);
  });

  it.each([
    [
      'still takes what was dropped',
      listener(tokenStep(3, [1, 2], 2)),
      { takes: [2, 1], refuses: [], randomRefused: true },
    ],
    ['takes nothing', async () => 'refused' as const, { takes: [], refuses: [2, 1], randomRefused: true }],
    ['takes anything', async () => 'taken' as const, { takes: [2, 1], refuses: [], randomRefused: false }],
  ])('fails on one that %s', async (_, ask, found) => {
    const report = await performProbe(plan, ask, at);
    expect(report).toMatchObject(found);
    expect(hasPassed(plan, report)).toBe(false);
  });

  it('says nothing where it was not answered', async () => {
    await expect(performProbe(plan, () => Promise.reject(new Error('ECONNREFUSED')), at)).rejects.toThrow(
      'ECONNREFUSED',
    );
  });
});
