import { describe, expect, it } from 'vitest';
import { isRollcallError } from '../errors.ts';
import { detailsOf } from '../refusal.fixture.ts';
import { decideRollback } from './advance.ts';
import type { Gate } from './gate.ts';
import { caller, holder, replica, tokenRotation } from './holder.fixture.ts';
import type { Holder } from './holder.ts';
import type { Phase, Rotation } from './phases.ts';
import { now, rotationIn } from './roll.fixture.ts';
import {
  decideTokenCut,
  decideTokenStart,
  endAfterAcceptedTime,
  goesOnByItself,
  mustNarrowNow,
  oldTokenVerifies,
  type TokenStartRequest,
} from './token-start.ts';

const time = { nowMs: now, floorMs: now, jumped: false, monotonicMs: 0 };
const wish: TokenStartRequest = {
  id: 'r-1',
  secret: 'api',
  reason: 'planned',
  leave: [],
  narrowByMs: null,
  auto: 'off',
  batch: 1,
  beatMs: 10,
  narrowByMaxMs: 1_000,
};

function start(
  changes: Partial<TokenStartRequest> = {},
  holders: readonly Holder[] = [replica(), holder('a')],
  latest: Rotation | null = null,
): Rotation {
  return decideTokenStart(latest, 3, 5, { ...wish, ...changes }, holders, time);
}

/** The code and the names, or `none`. */
function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    return [error.code, ...((error.details['hosts'] as string[] | undefined) ?? [])].join(' ');
  }
  return 'none';
}

const pinless = holder('b', { pin: 'none' });

describe('starting the rotation of a token', () => {
  it('goes from the version in force to a number that was never given', () => {
    expect(start({ auto: 'all', batch: 7, narrowByMs: now + 10 })).toEqual({
      id: 'r-1',
      secret: 'api',
      from: 3,
      to: 6,
      phase: 'widening',
      reason: 'planned',
      startedAtMs: now,
      phaseStartedAtMs: now,
      left: [],
      pausedBecause: null,
      canary: null,
      terms: { auto: 'all', batch: 7, narrowByMs: now + 10 },
    });
    expect(start().terms?.narrowByMs).toBeNull();
  });

  it.each<readonly [string, Partial<TokenStartRequest>, readonly Holder[], Rotation | null, string]>([
    ['one that runs is in the way', {}, [holder('a')], tokenRotation('proving'), 'rotation_running'],
    ['and one that is on its way back', {}, [holder('a')], tokenRotation('withdrawing'), 'rotation_running'],
    ['one that has ended is not', {}, [holder('a')], tokenRotation('done'), 'none'],
    ['nor one that was rolled back', {}, [holder('a')], tokenRotation('rolled_back'), 'none'],
    ['nobody holds it', {}, [replica()], null, 'no_holder'],
    ['a declared caller holds it', {}, [replica(), caller('caller:cron')], null, 'none'],
    ['nothing can be sealed to one', {}, [holder('a'), pinless], null, 'hosts_without_pin b'],
    ['it is left', { leave: ['b'] }, [holder('a'), pinless], null, 'none'],
    ['another is left', { leave: ['a'] }, [holder('a'), pinless], null, 'hosts_without_pin b'],
    ['it was evicted', {}, [holder('a'), { ...pinless, status: 'evicted' }], null, 'none'],
    ['a stranger is left', { leave: ['z'] }, [holder('a')], null, 'leave_unknown z'],
    [
      'after a leak nobody is waited for',
      { reason: 'leak', narrowByMs: now + 100 },
      [holder('a'), pinless],
      null,
      'none',
    ],
    ['a leak without an end', { reason: 'leak' }, [holder('a')], null, 'narrow_by_missing'],
    ['an end before anybody could beat', { narrowByMs: now + 9 }, [holder('a')], null, 'window_out_of_bounds'],
    ['an end after one beat', { narrowByMs: now + 10 }, [holder('a')], null, 'none'],
    ['the last end that may be', { narrowByMs: now + 1_000 }, [holder('a')], null, 'none'],
    ['an end that cannot be read', { narrowByMs: Number.NaN }, [holder('a')], null, 'window_out_of_bounds'],
    ['an end too far away', { narrowByMs: now + 1_001 }, [holder('a')], null, 'window_out_of_bounds'],
  ])('%s', (_what, changes, holders, latest, then) => {
    expect(refusal(() => start(changes, holders, latest))).toBe(then);
  });

  it('needs a clock that is trusted', () => {
    const jumped = { ...time, jumped: true };
    expect(refusal(() => decideTokenStart(null, 3, 5, wish, [holder('a')], jumped))).toBe('hub_time_jumped');
  });

  it('says what a person has to look at', () => {
    expect(detailsOf(() => start({ narrowByMs: now }))).toEqual({ minMs: 10, maxMs: 1_000 });
    expect(detailsOf(() => start({}, [holder('a')], tokenRotation('rolling')))).toEqual({ hosts: [] });
  });

  it('asks of hosts alone whether anything can be sealed to them', () => {
    expect(refusal(() => start({}, [holder('a'), caller('caller:cron', { pin: 'none' })]))).toBe('none');
  });
});

describe('the end of the old version', () => {
  const by = (narrowByMs: number | null, reason: Rotation['reason'] = 'leak', phase: Phase = 'rolling') =>
    tokenRotation(phase, { reason, terms: { auto: 'off', batch: 1, narrowByMs } });

  it.each([
    ['a planned walk has none', by(null, 'planned'), true],
    ['one that was cut has', by(now, 'planned'), false],
    ['a leak verifies until then', by(now + 1), true],
    ['and not at it', by(now), false],
    ['an unreadable one has passed', by(Number.NaN), false],
    ['a leak without one has passed', by(null), false],
    ['zero has passed', by(0, 'planned'), false],
  ] as const)('%s', (_what, rotation, verifies) => {
    expect(oldTokenVerifies(rotation, now)).toBe(verifies);
    expect(mustNarrowNow(rotation, now)).toBe(!verifies);
  });

  it('is none where there are no terms', () => {
    expect(oldTokenVerifies(rotationIn('rolling'), now)).toBe(true);
    expect(oldTokenVerifies(rotationIn('rolling', { reason: 'leak' }), now)).toBe(false);
  });

  it('narrows from whatever stands before narrowing, and nothing behind it', () => {
    const phases: readonly Phase[] = [
      'widening',
      'rolling',
      'proving',
      'narrowing',
      'done',
      'reverting',
      'rolled_back',
    ];
    expect(phases.filter((phase) => mustNarrowNow(by(now, 'leak', phase), now))).toEqual([
      'widening',
      'rolling',
      'proving',
    ]);
  });

  it('leaves no way back, where a walk without an end has one', () => {
    expect(refusal(() => decideRollback(by(now + 1), now))).toBe('no_rollback');
    expect(refusal(() => decideRollback(by(null, 'planned'), now))).toBe('none');
  });

  it.each<readonly [string, Rotation, { untilMs: number; leave: readonly string[] }, string]>([
    ['a first end', by(null, 'planned'), { untilMs: now + 50, leave: ['caller:cron'] }, 'none'],
    ['an earlier one', by(now + 100), { untilMs: now + 50, leave: ['caller:cron'] }, 'none'],
    ['a later one', by(now + 100), { untilMs: now + 101, leave: ['caller:cron'] }, 'window_not_shortened'],
    ['the same', by(now + 100), { untilMs: now + 100, leave: ['caller:cron'] }, 'window_not_shortened'],
    ['nobody knows of a declared caller', by(now + 100), { untilMs: now + 50, leave: [] }, 'would_strand caller:cron'],
    ['an unreadable one', by(now + 100), { untilMs: Number.NaN, leave: ['caller:cron'] }, 'window_not_shortened'],
    [
      'an unreadable first one',
      by(null, 'planned'),
      { untilMs: Number.NaN, leave: ['caller:cron'] },
      'window_not_shortened',
    ],
    [
      'after narrowing',
      by(now + 100, 'leak', 'narrowing'),
      { untilMs: now + 50, leave: ['caller:cron'] },
      'rotation_moved_on',
    ],
  ])('is cut: %s', (_what, rotation, request, then) => {
    const holders = [replica(), holder('a'), caller('caller:cron')];
    expect(refusal(() => decideTokenCut(rotation, request, holders, now))).toBe(then);
  });

  it('is cut with a word about what stands in the way, and about nothing but a token', () => {
    const cut = (rotation: Rotation) => decideTokenCut(rotation, { untilMs: now + 100, leave: [] }, [], now);
    expect(detailsOf(() => cut(by(now + 100)))).toEqual({ untilMs: now + 100 });
    expect(detailsOf(() => cut(by(null, 'leak', 'narrowing')))).toEqual({ phase: 'narrowing' });
    const { terms: _, ...master } = by(null);
    expect(() => cut(master)).toThrow(TypeError);
  });

  it('is cut for nobody who holds nothing, sends nothing, or was left before', () => {
    const behind = { provenVersion: 1 } as const;
    const holders = [
      replica(behind),
      holder('a', { ...behind, status: 'evicted' }),
      holder('b', { ...behind, presents: false }),
    ];
    const rotation = { ...by(null, 'planned'), left: ['c'] };
    const cut = decideTokenCut(rotation, { untilMs: now + 5, leave: [] }, [...holders, holder('c', behind)], now);
    expect(cut).toEqual({ ...rotation, terms: { auto: 'off', batch: 1, narrowByMs: now + 5 } });
  });

  it('is cut for those who were not seen with the new version, by name, and never before now', () => {
    const holders = [replica(), holder('a'), holder('b', { provenVersion: 1 })];
    const rotation = by(null, 'planned');
    expect(refusal(() => decideTokenCut(rotation, { untilMs: now - 9, leave: [] }, holders, now))).toBe(
      'would_strand b',
    );
    const cut = decideTokenCut(rotation, { untilMs: now - 9, leave: ['b'] }, holders, now);
    expect([cut.terms?.narrowByMs, cut.left]).toEqual([now, ['b']]);
  });
});

describe('the end of the old version, once a person has set the clock', () => {
  const times = { beforeMs: now + 500, afterMs: now, narrowByMaxMs: 1_000 };
  it.each<[string, number | null, number, number | null]>([
    ['stays where there is none', null, now - 9, null],
    ['stays where both times leave it', now + 600, now - 9, now + 600],
    ['stays ended', now + 500, now - 9, now],
    ['stays ended, long ago', now - 50, now - 90, now - 50],
    ['is as far away as it was by the time that was wrong', now + 600, now + 400, now + 100],
    ['is so too where it was set by that time later on', now + 1_400, now - 9, now + 900],
    ['that cannot be read is none that could be waited for', Number.NaN, now - 9, Number.NaN],
  ])('%s', (_what, narrowByMs, startedAtMs, then) => {
    const rotation = { ...start(), startedAtMs, terms: { auto: 'off', batch: 1, narrowByMs } } as const;
    expect(endAfterAcceptedTime(rotation, times)).toBe(then);
    // Where the clock is set forward, nothing moves.
    expect(endAfterAcceptedTime(rotation, { ...times, beforeMs: now - 100 })).toBe(narrowByMs);
  });
});

describe('how far a rotation goes by itself', () => {
  const open: Gate = { open: true, blockers: [], cutOff: [] };
  const by = (phase: Phase, auto: 'off' | 'to_narrowing' | 'all', changes: Partial<Rotation> = {}) =>
    tokenRotation(phase, { terms: { auto, batch: 1, narrowByMs: null }, ...changes });
  const seen = [replica(), holder('a')];
  const reported = [replica(), holder('a', { probedBy: 'itself' })];
  const without = { verifies: false, probe: null, probedBy: 'itself' } as const;

  it.each<readonly [string, Rotation, Gate, readonly Holder[], boolean]>([
    ['nowhere without being told', by('widening', 'off'), open, seen, false],
    ['up to proving', by('rolling', 'to_narrowing'), open, seen, true],
    ['not past it', by('proving', 'to_narrowing'), open, seen, false],
    ['to the end', by('proving', 'all'), open, seen, true],
    ['not on a report alone', by('proving', 'all'), open, reported, false],
    ['past one that was left', by('proving', 'all', { left: ['a'] }), open, reported, true],
    [
      'past one without a listener',
      by('proving', 'all'),
      open,
      [replica(), holder('a', { verifies: false, probe: null })],
      true,
    ],
    ['past one that says so, and always did', by('proving', 'all'), open, [replica(), holder('a', without)], true],
    [
      'not where it said in between that it has one',
      by('proving', 'all'),
      open,
      [replica(), holder('a', { ...without, hadListener: true })],
      false,
    ],
    ['from narrowing in any case', by('narrowing', 'off'), open, reported, true],
    ['and from the way back', by('reverting', 'off'), open, seen, true],
    ['where the new one is dropped as little on a report alone', by('reverting', 'all'), open, reported, false],
    ['and to its end', by('withdrawing', 'off'), open, reported, true],
    ['nowhere past proving without being told', by('proving', 'off'), open, seen, false],
    ['nowhere without terms', rotationIn('rolling', { secret: 'api' }), open, seen, false],
    ['past a declared caller', by('proving', 'all'), open, [caller('caller:cron', { verifies: true })], true],
    ['past a replica that probed itself', by('proving', 'all'), open, [replica({ probe: null })], true],
    ['up to proving on a report alone', by('rolling', 'all'), open, reported, true],
    ['through no shut gate', by('narrowing', 'all'), { ...open, open: false }, seen, false],
    ['not while paused', by('rolling', 'all', { pausedBecause: 'x' }), open, seen, false],
  ])('%s', (_what, rotation, gate, holders, goes) => {
    expect(goesOnByItself(rotation, gate, holders)).toBe(goes);
  });
});
