import { describe, expect, it } from 'vitest';
import { RollcallError } from '../errors.ts';
import { detailsOf } from '../refusal.fixture.ts';
import type { Generation } from './generations.ts';
import { decideCut, decideRetire } from './retire.ts';
import { generations, invitedHost, now, rollHost } from './roll.fixture.ts';
import type { RollHost } from './roll.ts';
import { sweepRoll } from './sweep.ts';

const open = generations(now + 1_000);
const closed = generations(now);
const good = rollHost('agent-1');
const behind = rollHost('agent-2', { provenVersion: 1 });

function outcomeOf(act: () => unknown): string {
  try {
    act();
    return 'done';
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error;
    const hosts = error.details['hosts'];
    return [error.code, ...(Array.isArray(hosts) ? hosts : [])].join(' ');
  }
}

describe('retiring', () => {
  interface Flags {
    readonly now?: boolean;
    readonly leave?: readonly string[];
    readonly left?: readonly string[];
  }
  const retire = (hosts: readonly RollHost[], rows: readonly Generation[], flags: Flags = {}) =>
    decideRetire({ now: false, leave: [], left: [], ...flags }, sweepRoll(hosts, rows, now));
  const outcome = (...args: Parameters<typeof retire>) => outcomeOf(() => retire(...args));

  it('destroys the previous version once its window has closed, and names who comes back by recovery', () => {
    expect(retire([good, behind], closed)).toEqual({ destroys: 1, left: [], stranded: ['agent-2'] });
    expect(outcome([], closed)).toBe('done');
  });

  it('is refused in an open window, and with --now it takes everything but the window', () => {
    expect(outcome([good], open)).toBe('window_open');
    expect(detailsOf(() => retire([good], open))).toEqual({ untilMs: now + 1_000 });
    expect(retire([good], open, { now: true })).toEqual({ destroys: 1, left: [], stranded: [] });
  });

  it.each([
    ['on the old version', behind],
    ['unattributed', rollHost('agent-2', { provenVersion: null })],
    ['without a pin', rollHost('agent-2', { pin: 'none' })],
    ['invited', invitedHost('agent-2')],
    ['presenting the old version', rollHost('agent-2', { presentingOld: true })],
  ])('--now is refused for a host that is %s, unless it is left', (_what, host) => {
    expect(outcome([good, host], open, { now: true })).toBe('would_strand agent-2');
    expect(retire([good, host], open, { now: true, leave: ['agent-2'] })).toMatchObject({
      left: ['agent-2'],
      stranded: ['agent-2'],
    });
    expect(outcome([good, host], open, { now: true, left: ['agent-2'] })).toBe('done');
    expect(outcome([good, host], open, { now: true, leave: ['agent-1'] })).toBe('would_strand agent-2');
  });

  it('--now does not ask the presenter of a leaked version', () => {
    const thief = rollHost('agent-2', { presentingOld: true });
    expect(outcome([good, thief], generations(now + 1_000, true), { now: true })).toBe('done');
  });

  it('is refused on an empty roll in an open window, without a previous version, and for unknown names', () => {
    expect(outcome([], open, { now: true })).toBe('empty_roll');
    expect(outcome([good], [], { now: true })).toBe('no_previous_version');
    expect(outcome([good], open, { now: true, leave: ['agent-9', 'agent-8'] })).toBe('leave_unknown agent-8 agent-9');
  });
});

describe('cutting', () => {
  const cut = (
    hosts: readonly RollHost[],
    rows: readonly Generation[],
    untilMs: number,
    leave: readonly string[] = [],
  ) => decideCut({ untilMs, leave, left: [] }, sweepRoll(hosts, rows, now), now);
  const outcome = (...args: Parameters<typeof cut>) => outcomeOf(() => cut(...args));

  it('shortens the window, at most to this moment', () => {
    expect(cut([good], open, now + 5)).toEqual({ verifyUntilMs: now + 5, left: [], stranded: [] });
    expect(cut([good], open, now - 5).verifyUntilMs).toBe(now);
  });

  it.each([now + 1_000, now + 1_001, Number.POSITIVE_INFINITY, Number.NaN])('never extends it: %d', (untilMs) => {
    expect(outcome([good], open, untilMs)).toBe('window_not_shortened');
    expect(detailsOf(() => cut([good], open, untilMs))).toEqual({ untilMs: now + 1_000 });
  });

  it('never reopens one', () => {
    expect(outcome([good], closed, now + 5)).toBe('window_not_shortened');
    expect(outcome([good], closed, now - 5)).toBe('window_not_shortened');
    expect(outcome([good], [], now + 5)).toBe('no_previous_version');
  });

  it('needs --leave for whoever has not come along, invited ones included', () => {
    const hosts = [good, behind, invitedHost('agent-3')];
    expect(outcome(hosts, open, now + 5)).toBe('would_strand agent-2 agent-3');
    expect(outcome(hosts, open, now + 5, ['agent-2'])).toBe('would_strand agent-3');
    expect(cut(hosts, open, now + 5, ['agent-2', 'agent-3']).stranded).toEqual(['agent-2', 'agent-3']);
  });
});
