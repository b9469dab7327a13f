import { describe, expect, it } from 'vitest';
import { isRollcallError } from '../errors.ts';
import { detailsOf } from '../refusal.fixture.ts';
import { decideAdvance, decideLeave, decideRollback } from './advance.ts';
import type { Blocker, Gate } from './gate.ts';
import { isRunning, type Phase, phases } from './phases.ts';
import { generations, now, rollHost, rotationIn } from './roll.fixture.ts';
import { sweepRoll } from './sweep.ts';

const open: Gate = { open: true, blockers: [], cutOff: [] };
const shut: Gate = { open: false, blockers: [{ member: 'agent-1', missing: 'x', sinceMs: 0, hint: '' }], cutOff: [] };

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (isRollcallError(error)) return error.code;
    throw error;
  }
  return 'none';
}

describe('advancing', () => {
  it('walks from planned to done, one phase at a time', () => {
    let rotation = rotationIn('planned');
    const walk: Phase[] = ['planned'];
    while (isRunning(rotation)) {
      rotation = decideAdvance(rotation, open, rotation.phase, now);
      walk.push(rotation.phase);
    }
    expect(walk).toEqual(['planned', 'widening', 'rolling', 'proving', 'narrowing', 'done']);
    expect(rotation.phaseStartedAtMs).toBe(now);
  });

  it('gives the same again when it is repeated from the same state', () => {
    const rotation = rotationIn('widening');
    expect(decideAdvance(rotation, open, 'widening', now)).toEqual(decideAdvance(rotation, open, 'widening', now));
  });

  it('tells the second of two operators', () => {
    const moved = decideAdvance(rotationIn('widening'), open, 'widening', now);
    expect(codeOf(() => decideAdvance(moved, open, 'widening', now))).toBe('rotation_moved_on');
    expect(codeOf(() => decideAdvance(moved, open, 'rolling', now))).toBe('none');
    expect(codeOf(() => decideAdvance(rotationIn('done'), open, 'done', now))).toBe('rotation_moved_on');
  });

  it('is refused at a shut gate and while paused', () => {
    expect(codeOf(() => decideAdvance(rotationIn('rolling'), shut, 'rolling', now))).toBe('gate_closed');
    const paused = rotationIn('rolling', { pausedBecause: 'agent-1: disk_full' });
    expect(codeOf(() => decideAdvance(paused, open, 'rolling', now))).toBe('rotation_paused');
  });
});

it('refusals say what a person has to look at', () => {
  const [blocker] = shut.blockers;
  const twice: Gate = {
    ...shut,
    blockers: [...shut.blockers, ...shut.blockers, { ...blocker, member: 'b' } as Blocker],
  };
  expect(detailsOf(() => decideAdvance(rotationIn('rolling'), twice, 'rolling', now))).toEqual({
    members: ['agent-1', 'b'],
  });
  expect(detailsOf(() => decideAdvance(rotationIn('rolling'), open, 'widening', now))).toEqual({ phase: 'rolling' });
  expect(detailsOf(() => decideRollback(rotationIn('done', { secret: 'api' }), now))).toEqual({ phase: 'done' });
  expect(detailsOf(() => decideLeave(rotationIn('done'), [], []))).toEqual({ phase: 'done' });
  expect(detailsOf(() => decideLeave(rotationIn('rolling'), ['z', 'y', 'z'], ['a']))).toEqual({ hosts: ['y', 'z'] });
});

describe('rolling back', () => {
  it.each([
    ['widening', 'withdrawing'],
    ['rolling', 'reverting'],
    ['proving', 'reverting'],
  ] as const)('leads from %s to %s, callers before verifiers', (phase, to) => {
    const rotation = rotationIn(phase, { secret: 'api-token', pausedBecause: 'x' });
    expect(decideRollback(rotation, now)).toMatchObject({ phase: to, phaseStartedAtMs: now, pausedBecause: null });
  });

  it.each(['planned', 'narrowing', 'done'] as const)('has no way from %s', (phase) => {
    expect(codeOf(() => decideRollback(rotationIn(phase, { secret: 'api-token' }), now))).toBe('no_rollback');
  });

  it('does not exist for the master', () => {
    expect(codeOf(() => decideRollback(rotationIn('rolling'), now))).toBe('no_rollback');
  });

  it('ends, like everything that runs', () => {
    for (const start of Object.keys(phases) as Phase[]) {
      let phase: Phase | null = start;
      let steps = 0;
      while (phase !== null && steps < 20) {
        phase = phases[phase].next;
        steps += 1;
      }
      expect(phase).toBeNull();
    }
  });
});

describe('leaving later', () => {
  const sweep = sweepRoll([rollHost('agent-1'), rollHost('agent-2')], generations(now), now);

  it('adds to who was left', () => {
    const rotation = rotationIn('rolling', { left: ['agent-2'] });
    expect(decideLeave(rotation, ['agent-1', 'agent-1'], sweep.roll).left).toEqual(['agent-1', 'agent-2']);
  });

  it('refuses unknown names, and an ended rotation', () => {
    expect(codeOf(() => decideLeave(rotationIn('rolling'), ['agent-3'], sweep.roll))).toBe('leave_unknown');
    expect(codeOf(() => decideLeave(rotationIn('done'), ['agent-1'], sweep.roll))).toBe('rotation_moved_on');
  });
});
