import { describe, expect, it } from 'vitest';
import { RollcallError } from '../errors.ts';
import { detailsOf } from '../refusal.fixture.ts';
import type { Generation } from './generations.ts';
import type { HubTime } from './hub-time.ts';
import type { Rotation } from './phases.ts';
import { generations, invitedHost, now, rollHost, rotationIn } from './roll.fixture.ts';
import type { RollHost } from './roll.ts';
import { decideStart, type StartDecision, type StartRequest } from './start.ts';
import { sweepRoll } from './sweep.ts';

const time: HubTime = { nowMs: now, floorMs: now, jumped: false, monotonicMs: 0 };
const request: StartRequest = {
  id: 'r-2',
  secret: 'master',
  reason: 'planned',
  leave: [],
  narrowByMs: null,
  verifyWindowMs: 1_000_000,
  beatMs: 10_000,
};
const first: readonly Generation[] = [{ version: 2, state: 'current', verifyUntilMs: null, leaked: false }];
const open = generations(now + 1);
const good = rollHost('agent-1');
const unpinned = rollHost('agent-2', { pin: 'none' });
const behind = rollHost('agent-3', { provenVersion: 1 });
const running = rotationIn('proving');

function start(
  hosts: readonly RollHost[],
  changes: Partial<StartRequest> = {},
  rows: readonly Generation[] = first,
  latest: Rotation | null = null,
  at: HubTime = time,
): StartDecision {
  return decideStart(latest, { ...request, ...changes }, sweepRoll(hosts, rows, at.nowMs), at);
}

/** The code of the refusal with the names in it, or `started`. */
function outcome(...args: Parameters<typeof start>): string {
  try {
    start(...args);
    return 'started';
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error;
    const hosts = error.details['hosts'];
    return [error.code, ...(Array.isArray(hosts) ? hosts : [])].join(' ');
  }
}

describe('starting', () => {
  it('enters widening at once and sets the end of the old version', () => {
    expect(start([good])).toEqual({
      rotation: {
        id: 'r-2',
        secret: 'master',
        from: 2,
        to: 3,
        phase: 'widening',
        reason: 'planned',
        startedAtMs: now,
        phaseStartedAtMs: now,
        left: [],
        pausedBecause: null,
        canary: null,
      },
      verifyUntilMs: now + 1_000_000,
      destroys: null,
      supersedes: null,
      withoutUsablePin: [],
    });
  });

  it('is refused without a current version, and while the clock is not trusted', () => {
    expect(outcome([good], {}, [])).toBe('no_current_version');
    expect(outcome([good], {}, first, null, { ...time, jumped: true })).toBe('hub_time_jumped');
    expect(outcome([good])).toBe('started');
  });

  it.each([
    ['the next heartbeat', now + 10_000, 'started'],
    ['before the next heartbeat', now + 9_999, 'window_out_of_bounds'],
    ['the past', now - 1, 'window_out_of_bounds'],
    ['the end of the verify window', now + 1_000_000, 'started'],
    ['later than that', now + 1_000_001, 'window_out_of_bounds'],
    ['an unreadable time', Number.NaN, 'window_out_of_bounds'],
  ])('--narrow-by %s', (_what, narrowByMs, then) => {
    expect(outcome([good], { narrowByMs })).toBe(then);
    expect(outcome([good], { narrowByMs, reason: 'leak' })).toBe(then);
    const bounds = then === 'started' ? undefined : { minMs: 10_000, maxMs: 1_000_000 };
    expect(detailsOf(() => start([good], { narrowByMs }))).toEqual(bounds);
  });
});

describe('starting while hosts have no usable pin', () => {
  const hosts = [
    good,
    unpinned,
    invitedHost('agent-4'),
    rollHost('agent-5', { pin: 'unreadable', status: 'suspended' }),
  ];
  const all = ['agent-2', 'agent-4', 'agent-5'];

  it('is refused and names them, invited and suspended ones included', () => {
    expect(outcome(hosts)).toBe('hosts_without_pin agent-2 agent-4 agent-5');
  });

  it('proceeds when --leave covers everyone, and may name more', () => {
    expect(outcome(hosts, { leave: ['agent-2', 'agent-4'] })).toBe('hosts_without_pin agent-5');
    expect(start(hosts, { leave: all }).rotation.left).toEqual(all);
    expect(start(hosts, { leave: ['agent-1', ...all] }).rotation.left).toEqual(['agent-1', ...all]);
  });

  it('refuses a name that is not on the roll, so that a typing error covers nobody', () => {
    expect(outcome(hosts, { leave: [...all, 'agent-9'] })).toBe('leave_unknown agent-9');
  });

  it('proceeds after a leak, names them, and leaves nobody by itself', () => {
    const decision = start(hosts, { reason: 'leak' });
    expect(decision.withoutUsablePin).toEqual(all);
    expect(decision.rotation.left).toEqual([]);
  });

  it('is not held up by an unusable key beside a good pin, nor by pending pins, nor by evicted hosts', () => {
    const loud = rollHost('agent-2', { unusableKey: true, pendingPins: 4 });
    expect(outcome([good, loud, { ...invitedHost('agent-3'), status: 'evicted' }])).toBe('started');
  });
});

describe('starting while a version before the current one exists', () => {
  it('in a closed window destroys it and supersedes what still ran', () => {
    expect(start([good, behind], {}, generations(now), running)).toMatchObject({
      destroys: 1,
      supersedes: 'r-1',
      rotation: { from: 2, to: 3 },
    });
    expect(start([good], {}, generations(now), rotationIn('done')).supersedes).toBeNull();
  });

  it('in an open one takes what `retire --now` takes', () => {
    expect(start([good], {}, open, running)).toMatchObject({ destroys: 1, supersedes: 'r-1' });
    expect(outcome([good, behind], {}, open, running)).toBe('rotation_running agent-3');
    expect(outcome([good, rollHost('agent-4', { presentingOld: true })], {}, open, running)).toBe(
      'rotation_running agent-4',
    );
    expect(outcome([], {}, open, running)).toBe('rotation_running');
    expect(detailsOf(() => start([], {}, open, running))).toEqual({ hosts: [] });
  });

  it('may leave whom that strands, and counts who was left before', () => {
    expect(start([good, behind], { leave: ['agent-3'] }, open, running).rotation.left).toEqual(['agent-3']);
    const leftBefore = { ...running, left: ['agent-3'] };
    expect(start([good, behind], {}, open, leftBefore).rotation.left).toEqual([]);
    expect(outcome([good, behind], {}, open, { ...leftBefore, phase: 'done' })).toBe('rotation_running agent-3');
  });

  it('is refused after a leak, too: superseding would strand them now', () => {
    expect(outcome([good, behind], { reason: 'leak' }, open, running)).toBe('rotation_running agent-3');
  });

  it('of two operators in the same second one wins', () => {
    const won = start([good]);
    const rows: readonly Generation[] = [
      { version: 2, state: 'previous', verifyUntilMs: won.verifyUntilMs, leaked: false },
      { version: 3, state: 'current', verifyUntilMs: null, leaked: false },
    ];
    expect(outcome([good], { id: 'r-3' }, rows, won.rotation)).toBe('rotation_running agent-1');
  });
});
