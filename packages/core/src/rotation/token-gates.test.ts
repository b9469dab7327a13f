import { describe, expect, it } from 'vitest';
import { evaluateGate, type Gate } from './gate.ts';
import {
  caller,
  dropped,
  holder,
  observedHolders,
  replica,
  takesBoth,
  tokenPolicy,
  tokenRotation,
} from './holder.fixture.ts';
import type { Holder } from './holder.ts';
import type { Phase, Rotation } from './phases.ts';
import type { Reference, References } from './references.ts';
import { now } from './roll.fixture.ts';

function gate(rotation: Rotation, holders: readonly Holder[], references: References | null = null): Gate {
  return evaluateGate(rotation, observedHolders(holders, references), tokenPolicy, now);
}

/** `open`, or who lacks what. */
function summary({ open, blockers, cutOff }: Gate): string {
  const lacking = blockers.map((blocker) => `${blocker.member}: ${blocker.missing}`);
  const report = cutOff.length > 0 ? [`cut off: ${cutOff.join(' ')}`] : [];
  return [...(open ? ['open'] : []), ...lacking, ...report].join(', ');
}

const hub = replica();
const a = holder('a');
const noListener = { verifies: false, probe: null, quiet: null } as const;
const told = { name: 'nginx', isCurrent: false, isTold: true, problem: null } as const;
const untold = { ...told, isTold: false } as const;
const back = { switched: false, provenVersion: 1 } as const;
const gone = { isReleased: true, verifies: false, probe: null, provenVersion: null, switched: false } as const;
const narrow = { probe: dropped } as const;
const withdrawn = { probe: { takes: [1], refuses: [2], randomRefused: true } } as const;
const loud = { quiet: { flatSinceMs: now - 1_000, reportedAtMs: now - 1 } } as const;
const stale = { quiet: { flatSinceMs: now - 9_000, reportedAtMs: now - 101 } } as const;
const ended = { reason: 'leak', terms: { auto: 'off', batch: 1, narrowByMs: now } } as const;
const running = { reason: 'leak', terms: { auto: 'off', batch: 1, narrowByMs: now + 1 } } as const;
const endless = { reason: 'leak', terms: { auto: 'off', batch: 1, narrowByMs: null } } as const;

type Case = readonly [
  what: string,
  phase: Phase,
  holders: readonly Holder[],
  rotation: Partial<Rotation>,
  then: string,
];

// biome-ignore format: a table
const cases: readonly Case[] = [
  ['nothing is asked before it begins', 'planned', [], {}, 'open'],
  ['all were probed', 'widening', [hub, a], {}, 'open'],
  ['one was not probed', 'widening', [hub, a, holder('b', { probe: null })], {}, 'b: probe'],
  ['the hub was not probed', 'widening', [replica({ probe: null }), a], {}, 'replica:local: probe'],
  ['one does not take the new version', 'widening', [hub, holder('b', { probe: { ...takesBoth, takes: [1] } })], {}, 'b: probe_passed'],
  ['one does not take the old version any more', 'widening', [hub, holder('b', { probe: { ...takesBoth, takes: [2] } })], {}, 'b: probe_passed'],
  ['one takes anything', 'widening', [hub, holder('b', { probe: { ...takesBoth, randomRefused: false } })], {}, 'b: probe_passed'],
  ['one has no listener: it is no verifier', 'widening', [hub, holder('b', noListener)], {}, 'open'],
  ['its listener is closed, and may open', 'widening', [hub, holder('b', { isClosed: true, probe: null })], {}, 'b: listener_open'],
  ['what was found while it was open', 'widening', [hub, holder('b', { isClosed: true })], {}, 'b: listener_open'],
  ['whether it has a listener is not known', 'widening', [hub, holder('b', { ...noListener, verifies: null })], {}, 'b: probe'],
  ['whether it has one is not known, and it was left', 'widening', [hub, holder('b', { ...noListener, verifies: null })], { left: ['b'] }, 'open'],
  ['whether it has one is not known, and it was evicted', 'widening', [hub, holder('b', { ...noListener, verifies: null, status: 'evicted' })], {}, 'open'],
  ['a caller is no verifier', 'widening', [hub, caller('caller:cron')], {}, 'open'],
  ['a silent verifier that was probed before it fell silent', 'widening', [hub, holder('b', { fresh: false })], {}, 'open'],
  ['one was left', 'widening', [hub, holder('b', { probe: null })], { left: ['b'] }, 'open'],
  ['one was evicted', 'widening', [hub, holder('b', { probe: null, status: 'evicted' })], {}, 'open'],
  ['one is suspended, and comes back', 'widening', [hub, holder('b', { probe: null, status: 'suspended' })], {}, 'b: probe'],
  ['a sink was told', 'widening', [hub, holder('b', { ...noListener, sinks: [told] })], {}, 'open'],
  ['a sink was not', 'widening', [hub, holder('b', { ...noListener, sinks: [{ ...untold, problem: 'sink_reload_failed' }] })], {}, 'b: sink_told'],
  ['a sink of an earlier step, that has no problem', 'widening', [hub, holder('b', { ...noListener, sinks: [untold] })], {}, 'b: sink_told'],
  ['what a host keeps is not known', 'widening', [hub, holder('b', { ...noListener, sinks: null })], {}, 'b: sink_told'],
  ['what a host keeps is not known', 'proving', [hub, holder('b', { sinks: null })], {}, 'b: sink_digest'],
  ['one of two', 'widening', [hub, holder('b', { ...noListener, sinks: [told, untold] })], {}, 'b: sink_told'],
  ['one with nothing that verifies need not have', 'widening', [hub, holder('b', { ...noListener, provenVersion: null })], {}, 'open'],
  ['a sink was not told, of one that was left', 'widening', [hub, holder('b', { ...noListener, sinks: [untold] })], { left: ['b'] }, 'open'],
  ['a sink was not told that it went', 'narrowing', [replica(narrow), holder('b', { ...noListener, sinks: [{ ...untold, problem: 'sink_reload_failed' }] })], {}, 'b: sink_told'],
  ['nobody holds it', 'widening', [], {}, 'api: no_holder'],
  ['a leak waits for verifiers, too', 'widening', [hub, holder('b', { probe: null })], running, 'b: probe'],

  ['all were seen', 'rolling', [hub, a], {}, 'open'],
  ['one has not had its turn', 'rolling', [hub, a, holder('b', back)], {}, 'b: seen_presenting'],
  ['one was switched and not seen', 'rolling', [hub, holder('b', { provenVersion: null })], {}, 'b: seen_presenting'],
  ['one was switched and was seen with the old one only', 'rolling', [hub, holder('b', { provenVersion: 1 })], {}, 'b: seen_presenting'],
  ['one was seen with the new one before its turn', 'rolling', [hub, holder('b', { switched: false })], {}, 'b: seen_presenting'],
  ['one went back', 'rolling', [hub, holder('b', { presentingOld: true })], {}, 'b: old_version_silent'],
  ['one was released and not seen without', 'rolling', [hub, a, holder('b', gone)], {}, 'b: seen_without'],
  ['one was released, on the way back too', 'reverting', [hub, holder('a', back), holder('b', gone)], {}, 'b: seen_without'],
  ['one was released and may send the old one yet', 'proving', [hub, a, holder('b', gone)], {}, 'b: seen_without'],
  ['one was released and left', 'rolling', [hub, a, holder('b', gone)], { left: ['b'] }, 'open'],
  ['one was released, and evicted', 'rolling', [hub, a, holder('b', { ...gone, status: 'evicted' })], {}, 'open'],
  ['one was released: it takes nothing that it could be asked for', 'widening', [hub, a, holder('b', gone)], {}, 'open'],
  ['one was released, past the gates that it is asked at', 'narrowing', [replica(narrow), holder('a', narrow), holder('b', gone)], {}, 'open'],
  ['one is silent', 'rolling', [hub, holder('b', { ...back, fresh: false })], {}, 'b: seen_presenting'],
  ['of a declared caller nothing is asked', 'rolling', [hub, a, caller('caller:cron')], {}, 'open'],
  ['only a declared caller: the counters are asked next', 'rolling', [hub, caller('caller:cron')], {}, 'open'],
  ['nobody sends it', 'rolling', [hub], {}, 'api: no_holder'],
  ['only a declared caller, on the way back', 'reverting', [hub, caller('caller:cron')], {}, 'open'],
  ['a row cannot be read', 'rolling', [hub, holder('b', { unreadable: ['assignment'] })], {}, 'b: readable_rows'],
  ['one was left', 'rolling', [hub, a, holder('b', back)], { left: ['b'] }, 'open'],
  ['a leak in its time waits', 'rolling', [hub, a, holder('b', back)], running, 'b: seen_presenting'],
  ['a leak after its time reports', 'rolling', [hub, a, holder('b', back)], ended, 'open, cut off: b'],
  ['a leak on nobody is no evidence', 'rolling', [], ended, 'api: no_holder'],
  ['a leak without an end has ended', 'rolling', [hub, a, holder('b', back)], endless, 'open, cut off: b'],

  ['three signals', 'proving', [hub, a], {}, 'open'],
  ['a retiring hit', 'proving', [hub, holder('a', loud)], {}, 'a: quiet_window'],
  ['a retiring hit at the hub', 'proving', [replica(loud), a], {}, 'replica:local: quiet_window'],
  ['a counter from a time ahead of the clock', 'proving', [hub, holder('a', { quiet: { flatSinceMs: now + 1, reportedAtMs: now } })], {}, 'a: quiet_window'],
  ['a time that cannot be read', 'proving', [hub, holder('a', { quiet: { flatSinceMs: Number.NaN, reportedAtMs: now } })], {}, 'a: quiet_window'],
  ['a verifier that did not report', 'proving', [hub, holder('a', { quiet: null })], {}, 'a: counter_reported'],
  ['a verifier that reported just in time', 'proving', [hub, holder('a', { quiet: { flatSinceMs: now - 9_000, reportedAtMs: now - 100 } })], {}, 'open'],
  ['a verifier that has not reported lately', 'proving', [hub, holder('a', stale)], {}, 'a: counter_reported'],
  ['nobody can be counted behind a closed listener', 'proving', [hub, holder('a', { isClosed: true })], {}, 'a: listener_open'],
  ['whether it counts is not known', 'proving', [hub, holder('a', { ...noListener, verifies: null })], {}, 'a: counter_reported'],
  ['a closed listener may open and take what was dropped', 'narrowing', [replica(narrow), holder('a', { ...narrow, isClosed: true })], {}, 'a: listener_open'],
  ['a caller without a listener counts nothing', 'proving', [hub, holder('a', noListener)], {}, 'open'],
  ['a sink is behind', 'proving', [hub, holder('a', { sinks: [{ name: 'nginx', isCurrent: false, isTold: false, problem: 'reload_failed' }] })], {}, 'a: sink_digest'],
  ['a sink is current', 'proving', [hub, holder('a', { sinks: [{ name: 'nginx', isCurrent: true, isTold: true, problem: null }] })], {}, 'open'],
  ['one fell back', 'proving', [hub, holder('a', { presentingOld: true })], {}, 'a: old_version_silent'],
  ['one joined and was not seen yet', 'proving', [hub, a, holder('b', { provenVersion: null })], {}, 'b: seen_presenting'],
  ['a thief who sends the old one holds it up in its time', 'proving', [replica(loud), a], running, 'replica:local: quiet_window'],
  ['and not after it', 'proving', [replica(loud), a], ended, 'open, cut off: replica:local'],

  ['all dropped it', 'narrowing', [replica(narrow), holder('a', narrow)], {}, 'open'],
  ['one still takes it', 'narrowing', [replica(narrow), a], {}, 'a: probe_passed'],
  ['one takes anything', 'narrowing', [replica({ probe: { ...dropped, randomRefused: false } })], {}, 'replica:local: probe_passed'],
  ['one refuses everything', 'narrowing', [replica(narrow), holder('a', { probe: { takes: [], refuses: [1, 2], randomRefused: true } })], {}, 'a: probe_passed'],
  ['a leak reports', 'narrowing', [replica(narrow), a], ended, 'open, cut off: a'],

  ['all are back', 'reverting', [hub, holder('a', back)], {}, 'open'],
  ['one is not', 'reverting', [hub, a], {}, 'a: seen_presenting'],
  ['somebody sends the new one', 'reverting', [replica(loud), holder('a', back)], {}, 'replica:local: quiet_window'],
  ['all gave it up', 'withdrawing', [replica(withdrawn), holder('a', withdrawn)], {}, 'open'],
  ['one has not', 'withdrawing', [replica(withdrawn), a], {}, 'a: probe_passed'],
];

/** The phase began 500 ms ago. */
const scanned = (...found: readonly Reference[]): References => ({ examinedAtMs: now - 400, found });
const examinedAt = (examinedAtMs: number | null): References => ({ examinedAtMs, found: [] });
const names = (reference: Reference['names']): Reference => ({ where: 'infra/deploy.yaml:3', names: reference });
const elsewhere: Reference = { where: 'app/.env:1', names: 1 };

type ReferenceCase = readonly [what: string, Phase, References | null, Partial<Rotation>, then: string];

// biome-ignore format: a table
const referenceCases: readonly ReferenceCase[] = [
  ['no root is configured', 'proving', null, {}, 'open'],
  ['nothing is referred to', 'proving', scanned(), {}, 'open'],
  ['the version that stays', 'proving', scanned(names(2)), {}, 'open'],
  ['the version that goes', 'proving', scanned(names(1)), {}, 'infra/deploy.yaml:3: reference_current'],
  ['one that went long ago', 'proving', scanned(names(0)), {}, 'infra/deploy.yaml:3: reference_current'],
  ['one that nobody made', 'proving', scanned(names(3)), {}, 'infra/deploy.yaml:3: reference_current'],
  ['a word for the newest', 'proving', scanned(names('unpinned')), {}, 'infra/deploy.yaml:3: reference_pinned'],
  ['a value in clear', 'proving', scanned(names('value')), {}, 'infra/deploy.yaml:3: no_value_in_clear'],
  ['each is named', 'proving', scanned(names(1), names(2), elsewhere), {}, 'app/.env:1: reference_current, infra/deploy.yaml:3: reference_current'],
  ['twice in one line', 'proving', scanned(names(1), names('value')), {}, 'infra/deploy.yaml:3: no_value_in_clear, infra/deploy.yaml:3: reference_current'],
  ['a place is no member that could be left', 'proving', scanned(elsewhere), { left: [elsewhere.where] }, 'app/.env:1: reference_current'],
  ['never scanned', 'proving', examinedAt(null), {}, 'references: references_scanned'],
  ['scanned before the phase', 'proving', examinedAt(now - 501), {}, 'references: references_scanned'],
  ['scanned as it began', 'proving', examinedAt(now - 500), {}, 'open'],
  ['scanned at this moment', 'proving', examinedAt(now), {}, 'open'],
  ['scanned ahead of the clock', 'proving', examinedAt(now + 1), {}, 'references: references_scanned'],
  ['scanned at a time that cannot be read', 'proving', examinedAt(Number.NaN), {}, 'references: references_scanned'],
  ['what an old scan found is asked anew', 'proving', { examinedAtMs: now - 501, found: [elsewhere] }, {}, 'references: references_scanned'],
  ['a leak in its time', 'proving', scanned(elsewhere), running, 'app/.env:1: reference_current'],
  ['a leak after its time: no repository was cut off', 'proving', scanned(elsewhere), ended, 'open'],
  ['the old version, on the way back', 'reverting', scanned(names(1)), {}, 'open'],
  ['the new version, on the way back', 'reverting', scanned(names(2)), {}, 'infra/deploy.yaml:3: reference_current'],
  ['before anybody switched', 'widening', scanned(elsewhere), {}, 'open'],
  ['while callers switch', 'rolling', scanned(elsewhere), {}, 'open'],
];

describe('the gates of a shared token', () => {
  it.each(referenceCases)('ask what repositories refer to: %s (%s)', (_what, phase, references, rotation, then) => {
    const member = holder('a', phase === 'reverting' ? back : {});
    expect(summary(gate(tokenRotation(phase, rotation), [hub, member], references))).toBe(then);
  });

  it('say of a reference since when it blocks and which version to write', () => {
    const hintsOf = (phase: Phase) =>
      gate(tokenRotation(phase), [hub, a], scanned(names(7), names('unpinned'), names('value'))).blockers.flatMap(
        ({ member, sinceMs, hint }) => (member === 'infra/deploy.yaml:3' ? [[sinceMs, hint]] : []),
      );
    expect(hintsOf('proving')).toEqual([
      [now - 500, expect.stringContaining('token file')],
      [now - 500, expect.stringMatching(/version 7.* version 2/)],
      [now - 500, expect.stringContaining('version 2')],
    ]);
    expect(hintsOf('reverting')[1]?.[1]).toMatch(/version 7.* version 1/);
  });

  it('cut off nobody where nobody was there to ask', () => {
    expect(summary(gate(tokenRotation('rolling', ended), [hub]))).toBe('open');
    expect(summary(gate(tokenRotation('rolling', ended), [hub, holder('a', back)]))).toBe('open, cut off: a');
  });

  it.each(cases)('%s (%s)', (_what, phase, holders, rotation, then) => {
    expect(summary(gate(tokenRotation(phase, rotation), holders))).toBe(then);
  });

  it('name the address from which the retiring version was sent last', () => {
    const source = { address: '127.0.0.23', userAgent: 'curl/8', route: '/v1/echo', host: null, atMs: now - 5 };
    const older = { ...source, address: '127.0.0.9', atMs: now - 50 };
    const hintOf = (sources: Holder['sources']) =>
      gate(tokenRotation('proving'), [hub, holder('a', { ...loud, sources })]).blockers[0]?.hint ?? '';
    expect(hintOf([source, older])).toContain('127.0.0.23 (curl/8)');
    expect(hintOf([source, older])).toContain('1 more');
    expect(hintOf([source])).not.toContain('more');
    expect(hintOf([])).not.toContain('127.0.0.23');
    expect(hintOf([])).toContain(new Date(now).toISOString());
  });

  it('say since when, which token nobody holds, and which signal is missing', () => {
    const at = { sinceMs: now - 500 };
    const [unseen] = gate(tokenRotation('rolling'), [holder('a', back)]).blockers;
    expect(unseen).toMatchObject({ member: 'a', missing: 'seen_presenting', ...at });
    const [none] = gate(tokenRotation('rolling'), []).blockers;
    expect(none).toMatchObject({ member: 'api', missing: 'no_holder', ...at });
    const sinks = [
      { name: 'nginx', isCurrent: false, isTold: false, problem: 'reload_failed' },
      { name: 'cron', isCurrent: false, isTold: true, problem: null },
      { name: 'app', isCurrent: true, isTold: true, problem: null },
    ];
    const [behind] = gate(tokenRotation('proving'), [hub, holder('a', { sinks })]).blockers;
    expect(behind?.hint).toContain('version 2: nginx (reload_failed), cron.');
    const probe = { takes: [], refuses: [], randomRefused: false, reported: false };
    const failedIn = (phase: Phase) => gate(tokenRotation(phase), [holder('a', { probe })]).blockers[0]?.hint;
    expect(failedIn('widening')).toContain('not take version 1, does not take version 2, takes a random value');
    expect(failedIn('narrowing')).toContain('not take version 2, does not refuse version 1, takes a random value');
    const [unreadable] = gate(tokenRotation('rolling'), [holder('a', { unreadable: ['host', 'pin'] })]).blockers;
    expect(unreadable?.hint).toContain('(host, pin)');
  });

  it('say something else of a counter that is silent, and of a caller that waits for its turn', () => {
    const hintOf = (phase: Phase, changes: Partial<Holder>) =>
      gate(tokenRotation(phase), [holder('a', changes)]).blockers[0]?.hint;
    expect(hintOf('proving', { quiet: null })).not.toBe(hintOf('proving', { quiet: null, fresh: false }));
    expect(hintOf('rolling', { switched: false })).not.toBe(hintOf('rolling', { provenVersion: 1 }));
    expect(hintOf('widening', { probe: null })).not.toBe(
      gate(tokenRotation('widening'), [replica({ probe: null })]).blockers[0]?.hint,
    );
    const source = { address: '127.0.0.23', userAgent: '', route: '/v1/echo', host: null, atMs: now - 5 };
    const at = new Date(now - 5).toISOString();
    expect(hintOf('proving', { ...loud, sources: [source] })).toContain(`127.0.0.23 at ${at}. If`);
    for (const changes of [{ probe: null }, { provenVersion: 1 }] as const) {
      const phase = 'probe' in changes ? 'widening' : 'rolling';
      expect(hintOf(phase, { ...changes, fresh: false })).toContain('not been heard since');
    }
  });

  it('say something else for each reason why a verifier was not probed or a caller not seen', () => {
    const states: readonly Partial<Holder>[] = [
      {},
      { status: 'invited' },
      { status: 'suspended' },
      { fresh: false },
      { pin: 'none' },
      { refusal: 'disk_full' },
    ];
    const unseen = states.map(
      (state) => gate(tokenRotation('rolling'), [holder('a', { ...back, ...state })]).blockers[0]?.hint,
    );
    expect(new Set(unseen).size).toBe(states.length);
    const unprobed = states
      .slice(0, 4)
      .map((state) => gate(tokenRotation('widening'), [holder('a', { probe: null, ...state })]).blockers[0]?.hint);
    expect(new Set(unprobed).size).toBe(4);
    const waiting = gate(tokenRotation('rolling'), [holder('a', back)]).blockers[0]?.hint;
    const told = gate(tokenRotation('rolling'), [holder('a', { provenVersion: null })]).blockers[0]?.hint;
    expect([waiting, told?.includes('since it was told')]).toEqual(['It waits for its turn.', true]);
  });
});
