import { describe, expect, it } from 'vitest';
import type { Rotation } from './phases.ts';
import { invitedHost, rollHost, rotationIn } from './roll.fixture.ts';
import type { RollHost } from './roll.ts';
import { planWave, type Wave, type WavePolicy } from './wave.ts';

/** Not switched yet, and on the old version. */
function waiting(id: string, changes: Partial<RollHost> = {}): RollHost {
  return rollHost(id, { switched: false, provenVersion: 1, ...changes });
}

/** Switched, and not proven yet. */
function onItsWay(id: string, changes: Partial<RollHost> = {}): RollHost {
  return rollHost(id, { provenVersion: 1, ...changes });
}

function plan(
  members: readonly RollHost[],
  changes: Partial<Rotation> = {},
  batch: WavePolicy['batch'] = 'everyone',
): Wave {
  return planWave(rotationIn('rolling', changes), members, { batch });
}

function summary(wave: Wave): string {
  if (wave.kind === 'paused') return `paused by ${wave.member}: ${wave.because}`;
  return `canary ${wave.canary ?? '-'}, switch ${wave.members.join(' ') || '-'}`;
}

type Case = readonly [what: string, members: readonly RollHost[], rotation: Partial<Rotation>, then: string];

// biome-ignore format: a table
const cases: readonly Case[] = [
  ['one goes first', [waiting('b'), waiting('a')], {}, 'canary a, switch a'],
  ['a silent host does not', [waiting('a', { fresh: false }), waiting('b')], {}, 'canary b, switch b'],
  ['nor one without a pin', [waiting('a', { pin: 'none' }), waiting('b')], {}, 'canary b, switch b'],
  ['nor one that is suspended', [waiting('a', { status: 'suspended' }), waiting('b')], {}, 'canary b, switch b'],
  ['nor one that was left', [waiting('a'), waiting('b')], { left: ['a'] }, 'canary b, switch b'],
  ['nobody can: wait, and do not pause', [waiting('a', { fresh: false }), invitedHost('b')], {}, 'canary -, switch -'],
  ['the canary is on its way: wait', [onItsWay('a'), waiting('b')], { canary: 'a' }, 'canary a, switch -'],
  ['the canary stays, also when another would be chosen now', [waiting('a'), onItsWay('b')], { canary: 'b' }, 'canary b, switch -'],
  ['it was chosen but not switched: a crash in between', [waiting('a'), waiting('b')], { canary: 'b' }, 'canary b, switch b'],
  ['the canary was left: another, though it beats', [onItsWay('a'), waiting('b')], { canary: 'a', left: ['a'] }, 'canary b, switch b'],
  ['one was switched and not written down as the canary', [onItsWay('a'), waiting('b')], {}, 'canary a, switch -'],
  ['the canary falls silent: another', [onItsWay('a', { fresh: false }), waiting('b')], { canary: 'a' }, 'canary b, switch b'],
  ['the canary was removed: another', [waiting('b')], { canary: 'a' }, 'canary b, switch b'],
  ['the canary was evicted: another', [onItsWay('a', { status: 'evicted' }), waiting('b')], { canary: 'a' }, 'canary b, switch b'],
  ['the canary refuses: another, for a refusal is its own word', [onItsWay('a', { refusal: 'disk_full' }), waiting('b')], { canary: 'a' }, 'canary b, switch b'],
  ['the only canary refuses: wait for it', [onItsWay('a', { refusal: 'disk_full' }), waiting('b', { fresh: false })], { canary: 'a' }, 'canary a, switch -'],
  ['the refusal of one that was left does not pause', [onItsWay('a', { refusal: 'disk_full' }), waiting('b')], { canary: 'a', left: ['a'] }, 'canary b, switch b'],
  ['a refusal of some earlier step does not pause', [waiting('a', { refusal: 'disk_full' }), waiting('b')], {}, 'canary b, switch b'],
  ['the canary has proven: everyone else, also who cannot hear it now', [rollHost('a'), waiting('b'), waiting('c', { fresh: false }), invitedHost('d')], { canary: 'a' }, 'canary a, switch b c d'],
  ['a silent former canary proves first: everyone else', [rollHost('a', { fresh: false }), onItsWay('b'), waiting('c')], { canary: 'b' }, 'canary b, switch c'],
  ['evicted hosts switch nothing', [rollHost('a'), waiting('b', { status: 'evicted' })], { canary: 'a' }, 'canary a, switch -'],
  ['a joiner is switched, too', [rollHost('a'), onItsWay('b'), waiting('c')], { canary: 'a' }, 'canary a, switch c'],
  ['a refusal behind the canary holds nobody up', [rollHost('a'), onItsWay('b', { refusal: 'disk_full' }), waiting('c')], { canary: 'a' }, 'canary a, switch c'],
  ['nor one whose assignment cannot be read', [waiting('a', { unreadable: ['assignment'] }), waiting('b')], {}, 'canary b, switch b'],
  ['the assignment of the canary is damaged: another', [onItsWay('a', { unreadable: ['assignment'] }), waiting('b')], { canary: 'a' }, 'canary b, switch b'],
  ['nobody gets a step over one that cannot be read', [rollHost('a'), waiting('b', { unreadable: ['assignment'] }), waiting('c', { unreadable: ['pending'] })], { canary: 'a' }, 'canary a, switch c'],
  ['paused: nobody', [rollHost('a'), waiting('b')], { canary: 'a', pausedBecause: 'operator' }, 'canary a, switch -'],
  ['a roll of zero: nobody', [], {}, 'canary -, switch -'],
];

describe('the waves of the master', () => {
  it.each(cases)('%s', (_what, members, rotation, then) => {
    expect(summary(plan(members, rotation))).toBe(then);
    expect(plan(members, rotation).kind).toBe('switch');
  });

  it('wait for a canary that beats and does not prove, and after its time no longer', () => {
    const members = [onItsWay('a'), waiting('b'), waiting('c', { fresh: false })];
    const at = (canaryIsOver: boolean) =>
      summary(planWave(rotationIn('rolling', { canary: 'a' }), members, { batch: 'everyone', canaryIsOver }));
    expect(at(false)).toBe('canary a, switch -');
    expect(at(true)).toBe('canary a, switch b c');
    const paused = rotationIn('rolling', { canary: 'a', pausedBecause: 'operator' });
    expect(summary(planWave(paused, members, { batch: 'everyone', canaryIsOver: true }))).toBe('canary a, switch -');
  });

  it.each(['planned', 'widening', 'proving', 'narrowing', 'done', 'reverting', 'withdrawing', 'rolled_back'] as const)(
    'nobody is switched in %s',
    (phase) => {
      expect(planWave(rotationIn(phase), [waiting('a')], { batch: 'everyone' })).toMatchObject({ members: [] });
    },
  );
});

describe('waves by batch', () => {
  const proven = [rollHost('a'), rollHost('b')];

  it('switch that many at a time, fresh ones first', () => {
    const members = [...proven, waiting('c', { fresh: false }), waiting('d'), waiting('e')];
    expect(summary(plan(members, { canary: 'a' }, 1))).toBe('canary a, switch d');
    expect(summary(plan(members, { canary: 'a' }, 2))).toBe('canary a, switch d e');
    expect(summary(plan(members, { canary: 'a' }, 9))).toBe('canary a, switch d e c');
  });

  it('wait until each of the wave before has proven, also a silent one, unless it was left', () => {
    const members = [...proven, onItsWay('c', { fresh: false }), waiting('d')];
    expect(summary(plan(members, { canary: 'a' }, 2))).toBe('canary a, switch -');
    expect(summary(plan(members, { canary: 'a', left: ['c'] }, 2))).toBe('canary a, switch d');
  });

  it('wait for the canary without an end: behind it callers would break', () => {
    const members = [onItsWay('a'), waiting('b')];
    const wave = planWave(rotationIn('rolling', { canary: 'a' }), members, { batch: 1, canaryIsOver: true });
    expect(summary(wave)).toBe('canary a, switch -');
    const first = planWave(rotationIn('rolling'), [waiting('a'), waiting('b')], { batch: 1, canaryIsOver: true });
    expect(summary(first)).toBe('canary a, switch a');
  });

  it('go on without a canary that was left: nothing else would end the wait for it', () => {
    const members = [onItsWay('a'), waiting('b'), waiting('c')];
    expect(summary(plan(members, { canary: 'a' }, 1))).toBe('canary a, switch -');
    expect(summary(plan(members, { canary: 'a', left: ['a'] }, 1))).toBe('canary b, switch b');
  });

  it('pause at a refusal, of the canary and behind it, and not at one of somebody who was left', () => {
    const refusing = onItsWay('c', { refusal: 'disk_full' });
    expect(summary(plan([refusing, waiting('d')], { canary: 'c' }, 1))).toBe('paused by c: disk_full');
    expect(summary(plan([...proven, refusing, waiting('d')], { canary: 'a' }, 1))).toBe('paused by c: disk_full');
    expect(summary(plan([...proven, refusing, waiting('d')], { canary: 'a', left: ['c'] }, 1))).toBe(
      'canary a, switch d',
    );
  });

  it.each([0, -1, Number.NaN])('have members: not %d', (batch) => {
    expect(() => plan(proven, {}, batch)).toThrow('a wave has members');
  });
});
