import { describe, expect, it } from 'vitest';
import { evaluateGate, type Gate, type GatePolicy, type Observations } from './gate.ts';
import type { Phase, Rotation } from './phases.ts';
import { invitedHost, now, observed, rollHost, rotationIn } from './roll.fixture.ts';
import type { RollHost } from './roll.ts';

const policy: GatePolicy = { quietWindowMs: 1_000, reportedWithinMs: 100 };

function gate(rotation: Rotation, observations: Observations): Gate {
  return evaluateGate(rotation, observations, policy, now);
}

/** `open`, or who lacks what. */
function summary({ open, blockers, cutOff }: Gate): string {
  const lacking = blockers.map((blocker) => `${blocker.member}: ${blocker.missing}`);
  const report = cutOff.length > 0 ? [`cut off: ${cutOff.join(' ')}`] : [];
  return [...(open ? ['open'] : []), ...lacking, ...report].join(', ');
}

const open: Partial<Observations> = { verifyUntilMs: now + 1 };
const leak: Partial<Rotation> = { reason: 'leak' };
const good = rollHost('agent-1');
const old = rollHost('agent-2', { provenVersion: 1, narrowed: false });
const unknown = rollHost('agent-2', { provenVersion: null, narrowed: false });
const evicted: RollHost = { ...invitedHost('agent-2'), status: 'evicted' };

function holding(...holds: readonly number[]): Partial<Observations> {
  return {
    replicas: [
      { id: 'hub-1', holds: [1, 2], sinceMs: 0 },
      { id: 'hub-2', holds, sinceMs: 7 },
    ],
  };
}

type Case = readonly [
  what: string,
  phase: Phase,
  hosts: readonly RollHost[],
  Partial<Observations>,
  Partial<Rotation>,
  then: string,
];

// biome-ignore format: a table
const cases: readonly Case[] = [
  ['nothing is asked before it begins', 'planned', [], {}, {}, 'open'],
  ['both replicas hold both', 'widening', [old], { ...open, ...holding(2, 1) }, {}, 'open'],
  ['one replica lacks the new version', 'widening', [good], { ...open, ...holding(1) }, {}, 'hub-2: replica_holds_both'],
  ['one replica lost the old version', 'widening', [good], { ...open, ...holding(2) }, {}, 'hub-2: replica_holds_both'],
  ['the old version has stopped, so nobody needs it', 'widening', [good], holding(2), {}, 'open'],
  ['the old version has stopped, but the new one is lacking', 'widening', [good], holding(1), {}, 'hub-2: replica_holds_both'],
  ['no replica at all', 'widening', [good], { replicas: [] }, {}, 'hub: no_live_replica'],
  ['a leak waits for replicas, too', 'widening', [good], holding(1), leak, 'hub-2: replica_holds_both'],

  ['all proven', 'rolling', [good], open, {}, 'open'],
  ['one is on the old version', 'rolling', [good, old], open, {}, 'agent-2: proof_of_new'],
  ['one was never attributed', 'rolling', [good, unknown], open, {}, 'agent-2: proof_of_new'],
  ['one is silent', 'rolling', [good, { ...old, fresh: false }], open, {}, 'agent-2: proof_of_new'],
  ['one is suspended', 'rolling', [good, { ...old, status: 'suspended' }], open, {}, 'agent-2: proof_of_new'],
  ['one is invited', 'rolling', [good, invitedHost('agent-2')], open, {}, 'agent-2: proof_of_new'],
  ['one was left', 'rolling', [good, old], open, { left: ['agent-2'] }, 'open'],
  ['another than that was left', 'rolling', [good, old], open, { left: ['agent-1'] }, 'agent-2: proof_of_new'],
  ['one was evicted', 'rolling', [good, evicted], open, {}, 'open'],
  ['a roll of zero', 'rolling', [], open, {}, 'roll: empty_roll'],
  ['everyone was left', 'rolling', [old], open, { left: ['agent-2'] }, 'open'],
  ['presenting the old one does not hold rolling', 'rolling', [rollHost('agent-2', { presentingOld: true })], open, {}, 'open'],
  ['a leak in its window waits', 'rolling', [good, old], open, leak, 'agent-2: proof_of_new'],
  ['a leak after its window reports', 'rolling', [good, old], {}, leak, 'open, cut off: agent-2'],
  ['a planned one after its window waits', 'rolling', [good, old], {}, {}, 'agent-2: proof_of_new'],

  ['all signals', 'proving', [good], {}, {}, 'open'],
  ['the window has closed', 'proving', [good], { verifyUntilMs: now }, {}, 'open'],
  ['the window is open', 'proving', [good], open, {}, 'master: window_closed'],
  ['the window is open after a leak', 'proving', [good], open, leak, 'master: window_closed'],
  ['one fell back', 'proving', [good, old], {}, {}, 'agent-2: proof_of_new'],
  ['one is unknown', 'proving', [good, unknown], {}, {}, 'agent-2: attribution, agent-2: proof_of_new'],
  ['one has no pin', 'proving', [good, rollHost('agent-2', { pin: 'none' })], {}, {}, 'agent-2: usable_pin'],
  ['one pin is unreadable', 'proving', [good, rollHost('agent-2', { pin: 'unreadable' })], {}, {}, 'agent-2: usable_pin'],
  ['a row cannot be read', 'rolling', [good, rollHost('agent-2', { unreadable: ['assignment'] })], {}, {}, 'agent-2: readable_rows'],
  ['a row cannot be read', 'proving', [good, rollHost('agent-2', { unreadable: ['pending'] })], {}, {}, 'agent-2: readable_rows'],
  ['a row cannot be read', 'narrowing', [good, rollHost('agent-2', { unreadable: ['assignment'] })], {}, {}, 'agent-2: readable_rows'],
  ['a row cannot be read, of one that was left', 'proving', [good, rollHost('agent-2', { unreadable: ['assignment'] })], {}, { left: ['agent-2'] }, 'open'],
  ['a row cannot be read, after a leak', 'proving', [good, rollHost('agent-2', { unreadable: ['assignment'] })], {}, leak, 'open, cut off: agent-2'],
  ['one has no pin and was left', 'proving', [good, rollHost('agent-2', { pin: 'none' })], {}, { left: ['agent-2'] }, 'open'],
  ['one presents the old version again', 'proving', [good, rollHost('agent-2', { presentingOld: true })], {}, {}, 'agent-2: old_version_silent'],
  ['a thief presents the old version', 'proving', [good, rollHost('agent-2', { presentingOld: true })], {}, leak, 'open'],
  ['joined during proving', 'proving', [good, invitedHost('agent-2')], {}, {}, 'agent-2: attribution, agent-2: proof_of_new, agent-2: usable_pin'],
  ['a roll of zero', 'proving', [], {}, {}, 'roll: empty_roll'],

  ['all narrowed', 'narrowing', [good], {}, {}, 'open'],
  ['one did not report', 'narrowing', [good, rollHost('agent-2', { narrowed: false })], {}, {}, 'agent-2: narrowed_step'],
  ['one was left', 'narrowing', [good, rollHost('agent-2', { narrowed: false })], {}, { left: ['agent-2'] }, 'open'],
  ['a leak on a roll of zero', 'rolling', [], {}, leak, 'roll: empty_roll'],
  ['a leak reports', 'narrowing', [good, rollHost('agent-2', { narrowed: false })], {}, leak, 'open, cut off: agent-2'],
];

describe('the gates of the master', () => {
  it.each(cases)('%s (%s)', (_what, phase, hosts, changes, rotation, then) => {
    expect(summary(gate(rotationIn(phase, rotation), observed(hosts, changes)))).toBe(then);
  });

  it('lists the same blockers in the same order, however the rows come', () => {
    const hosts = ['c', 'a', 'b'].map((id) => rollHost(id, { provenVersion: null, pin: 'none' }));
    const one = gate(rotationIn('proving'), observed(hosts));
    const other = gate(rotationIn('proving'), observed([...hosts].reverse()));
    expect(one).toEqual(other);
    expect(one.blockers.map((blocker) => blocker.member)).toEqual(['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'c']);
  });

  it('says since when, and what to do', () => {
    const [window] = gate(rotationIn('proving'), observed([good], open)).blockers;
    expect(window?.sinceMs).toBe(now - 1_000);
    expect(window?.hint).toContain(new Date(now + 1).toISOString());
    const hints = [
      old,
      { ...old, fresh: false },
      { ...old, refusal: 'disk_full' },
      { ...old, pin: 'none' as const },
    ].map((host) => gate(rotationIn('rolling'), observed([host])).blockers[0]?.hint);
    expect(new Set(hints).size).toBe(4);
    expect(hints[2]).toContain('disk_full');
  });

  it('says since when, of whom nobody asked, too', () => {
    const first = (phase: Phase, hosts: readonly RollHost[], changes: Partial<Observations> = {}) =>
      gate(rotationIn(phase), observed(hosts, changes)).blockers[0];
    expect(first('rolling', [old])).toMatchObject({ member: 'agent-2', sinceMs: now - 500 });
    expect(first('rolling', [])).toMatchObject({ member: 'roll', missing: 'empty_roll', sinceMs: now - 500 });
    expect(first('widening', [good], holding(1))).toMatchObject({ member: 'hub-2', sinceMs: 7 });
    expect(first('widening', [good], { replicas: [] })).toMatchObject({ member: 'hub', sinceMs: now - 500 });
  });

  it('says something else for each reason why a host has not proven, and which rows cannot be read', () => {
    const hintOf = (phase: Phase, changes: Partial<RollHost>) =>
      gate(rotationIn(phase), observed([{ ...old, ...changes }])).blockers[0]?.hint ?? '';
    const reasons: readonly Partial<RollHost>[] = [
      {},
      { status: 'invited' },
      { status: 'suspended' },
      { pin: 'unreadable' },
      { refusal: 'disk_full' },
      { fresh: false },
      { lastSeenAtMs: null },
    ];
    expect(new Set(reasons.map((reason) => hintOf('rolling', reason))).size).toBe(reasons.length);
    expect(hintOf('rolling', { provenVersion: 2, unreadable: ['host', 'pin'] })).toContain('(host, pin)');
    expect(hintOf('rolling', { lastSeenAtMs: null })).toContain('never heard');
    expect(hintOf('narrowing', {})).not.toBe(hintOf('rolling', {}));
  });

  it('says when a host was heard last, and claims nothing of what it holds', () => {
    const lastSeenAtMs = Date.UTC(2026, 2, 1, 12);
    const hintOf = (changes: Partial<RollHost>) =>
      gate(rotationIn('rolling'), observed([{ ...old, lastSeenAtMs, ...changes }])).blockers[0]?.hint;
    expect(hintOf({ fresh: true })).toBe(hintOf({ fresh: true, lastSeenAtMs: lastSeenAtMs + 1 }));
    expect(hintOf({ fresh: true })).toContain('not used the new version yet');
    expect(hintOf({ fresh: false })).toContain('2026-03-01T12:00:00.000Z');
    expect(hintOf({ fresh: false })).toContain('not been heard since');
    expect(hintOf({ fresh: false, lastSeenAtMs: null })).toContain('never heard');
  });

  it('has no gate for an ended rotation, nor for a phase that the secret never walks', () => {
    expect(() => gate(rotationIn('done'), observed([good]))).toThrow('an ended rotation has no gate');
    expect(() => gate(rotationIn('reverting'), observed([good]))).toThrow('no gate is defined for master in reverting');
  });
});
