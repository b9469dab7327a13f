import { describe, expect, it } from 'vitest';
import { refusalOf } from '../refusal.fixture.ts';
import type { HitSource } from '../rotation/holder.ts';
import type { Phase, Rotation } from '../rotation/phases.ts';
import {
  type ClosingObservations,
  closingOf,
  decideClosing,
  decideClosingCut,
  evaluateClosing,
  lastStoodOn,
  noPolicy,
  noteSighting,
  type RungPolicy,
  rungOfClosing,
  type Sightings,
  type StandingHost,
} from './index.ts';

const NOW = 10_000_000;
const DAY = 1_000_000;
const time = { nowMs: NOW, monotonicMs: 0, jumped: false, floorMs: 0 };
const host = (id: string, changes: Partial<StandingHost> = {}): StandingHost => ({
  id,
  status: 'active',
  proven: ['derived'],
  policy: noPolicy,
  ...changes,
});
const source = (changes: Partial<HitSource> = {}): HitSource => ({
  address: '192.0.2.9',
  userAgent: 'cron/1',
  route: '/v1/heartbeat',
  host: null,
  atMs: NOW - 1,
  ...changes,
});
const quiet: Sightings = { countedSinceMs: NOW - 2 * DAY, count: 0, sources: [], forgottenAtMs: null };
const seen: ClosingObservations = {
  fleet: noPolicy,
  hosts: [host('web-1'), host('web-2')],
  sightings: quiet,
  probe: { isRefused: true, isControlled: true },
};
const request = {
  id: 'r-1',
  rung: 'fleet-token',
  reason: 'planned',
  leave: [],
  narrowByMs: null,
  auto: 'off',
  beatMs: 10,
  narrowByMaxMs: 10 * DAY,
} as const;
const closed: RungPolicy = { 'fleet-token': { isAccepted: false, reason: 'x', sinceMs: 1 } };
const rule = (isAccepted: boolean) => ({ isAccepted, reason: 'x', sinceMs: 1 });
const start = (changes: object = {}, latest: Rotation | null = null, at = seen) =>
  decideClosing(latest, { ...request, ...changes }, at, time);
const inPhase = (phase: Phase, changes: Partial<Rotation> = {}): Rotation => ({ ...start(), phase, ...changes });
const gate = (rotation: Rotation, changes: Partial<ClosingObservations> = {}) =>
  evaluateClosing(rotation, { ...seen, ...changes }, { quietWindowMs: DAY }, NOW);
const blockers = (...args: Parameters<typeof gate>) =>
  gate(...args).blockers.map(({ member, missing }) => `${member} ${missing}`);

describe('the name of a closing', () => {
  it('is of a rung, and no other word is', () => {
    expect(rungOfClosing(closingOf('fleet-token'))).toBe('fleet-token');
    for (const other of ['fleet-token', 'rung:', 'rung:mtls', 'master', 'rung:fleet-token ', 'arung:derived']) {
      expect(rungOfClosing(other)).toBeUndefined();
    }
  });
});

describe('a start', () => {
  it('is of the next number, in widening, with its terms', () => {
    expect(start()).toMatchObject({ secret: 'rung:fleet-token', from: 1, to: 2, phase: 'widening', left: [] });
    expect(start({}, inPhase('done'))).toMatchObject({ from: 2, to: 3 });
    expect(start({ auto: 'all' }).terms).toEqual({ auto: 'all', batch: 1, narrowByMs: null });
    expect(start({ rung: 'host-token' })).toMatchObject({ secret: 'rung:host-token' });
  });

  // biome-ignore format: a table
  it.each<[string, object, Rotation | null, Partial<ClosingObservations>, string]>([
    ['while one runs',                     {}, inPhase('rolling'), {}, 'rotation_running'],
    ['of the highest rung',                { rung: 'derived' }, null, {}, 'no_rung_left'],
    ['with nothing accepted above it',     { rung: 'host-token' }, null, { fleet: { derived: rule(false) } }, 'no_rung_left'],
    ['of a rung that is closed',           {}, null, { fleet: closed }, 'rung_closed'],
    ['after a leak without an end',        { reason: 'leak' }, null, {}, 'narrow_by_missing'],
    ['with an end that has passed',        { reason: 'leak', narrowByMs: NOW }, null, {}, 'window_out_of_bounds'],
    ['that leaves whom nobody knows',      { leave: ['nobody'] }, null, {}, 'leave_unknown'],
    ['over one that was rolled back',      {}, inPhase('rolled_back'), {}, 'accepted'],
    ['after a leak, with an end',          { reason: 'leak', narrowByMs: NOW + DAY }, null, {}, 'accepted'],
    ['of a rung whose rule is damaged',    {}, null, { fleet: { 'fleet-token': 'unreadable' } }, 'accepted'],
    ['that leaves a host of the roll',     { leave: ['web-2'] }, null, {}, 'accepted'],
  ])('%s', (_name, changes, latest, observed, code) => {
    expect(refusalOf(() => start(changes, latest, { ...seen, ...observed }))).toBe(code);
  });

  it('waits for a clock that can be believed', () => {
    const jumped = { ...time, jumped: true };
    expect(refusalOf(() => decideClosing(null, request, seen, jumped))).toBe('hub_time_jumped');
  });
});

describe('a gate', () => {
  const low = { hosts: [host('web-1'), host('old-1', { proven: [] })] };
  // biome-ignore format: a table
  it.each<[string, Phase, Partial<ClosingObservations>, string[]]>([
    ['widening, everybody may stand higher', 'widening', low, []],
    ['widening, one may not',                'widening', { hosts: [host('a', { policy: { derived: rule(false), 'host-token': rule(false) } })] }, ['a higher_rung_accepted']],
    ['widening, nor by a rule that is damaged', 'widening', { hosts: [host('a', { policy: { derived: 'unreadable', 'host-token': rule(false) } })] }, ['a higher_rung_accepted']],
    ['widening, the evicted one is no matter', 'widening', { hosts: [host('a', { status: 'evicted', policy: { derived: rule(false), 'host-token': rule(false) } }), host('b')] }, []],
    ['widening, over nobody',                'widening', { hosts: [] }, ['roll empty_roll']],
    ['rolling, everybody was seen higher',   'rolling',  {}, []],
    ['rolling, one was not',                 'rolling',  low, ['old-1 seen_higher']],
    ['rolling, one is excepted',             'rolling',  { hosts: [host('web-1'), host('old-1', { proven: [], policy: { 'fleet-token': rule(true) } })] }, []],
    ['rolling, one is suspended',            'rolling',  { hosts: [host('old-1', { proven: [], status: 'suspended' })] }, ['old-1 seen_higher']],
    ['rolling, one cannot be read',          'rolling',  { hosts: [host('old-1', { proven: [], status: 'unreadable' })] }, ['old-1 seen_higher']],
    ['rolling, over nobody',                 'rolling',  { hosts: [] }, ['roll empty_roll']],
    ['proving, it is quiet',                 'proving',  {}, []],
    ['proving, one went back',               'proving',  low, ['old-1 seen_higher']],
    ['proving, somebody stood on it',        'proving',  { sightings: { ...quiet, sources: [source()] } }, ['192.0.2.9 quiet_window']],
    ['proving, in the name of a host',       'proving',  { sightings: { ...quiet, sources: [source({ host: 'web-1' })] } }, ['web-1 quiet_window']],
    ['proving, a whole window ago',          'proving',  { sightings: { ...quiet, sources: [source({ atMs: NOW - DAY })] } }, []],
    ['proving, a moment less',               'proving',  { sightings: { ...quiet, sources: [source({ atMs: NOW - DAY + 1 })] } }, ['192.0.2.9 quiet_window']],
    ['proving, somebody who was forgotten',  'proving',  { sightings: { ...quiet, forgottenAtMs: NOW - 5 } }, ['replica:local quiet_window']],
    ['proving, not counted for a window',    'proving',  { sightings: { ...quiet, countedSinceMs: NOW - DAY + 1 } }, ['replica:local quiet_window']],
    ['proving, since an unreadable time',    'proving',  { sightings: { ...quiet, countedSinceMs: Number.NaN } }, ['replica:local quiet_window']],
    ['narrowing, refused, with its control', 'narrowing', {}, []],
    ['narrowing, not probed',                'narrowing', { probe: null }, ['replica:local probe']],
    ['narrowing, still taken',               'narrowing', { probe: { isRefused: false, isControlled: true } }, ['replica:local rung_refused']],
    ['narrowing, without its control',       'narrowing', { probe: { isRefused: true, isControlled: false } }, ['replica:local probe_control']],
    ['reverting',                            'reverting', low, []],
    ['withdrawing',                          'withdrawing', low, []],
  ])('of %s', (_name, phase, observed, wanted) => {
    expect([blockers(inPhase(phase), observed), gate(inPhase(phase), observed).open]).toEqual([wanted, wanted.length === 0]);
  });

  it('waits for nobody who was left, nor for what is sent in his name', () => {
    const observed = { ...low, sightings: { ...quiet, sources: [source({ host: 'old-1' })] } };
    expect(blockers(inPhase('proving'), observed)).toEqual(['old-1 quiet_window', 'old-1 seen_higher']);
    expect(gate(inPhase('proving', { left: ['old-1'] }), observed).open).toBe(true);
    const nameless = { ...low, sightings: { ...quiet, sources: [source({ host: 'old-1' }), source()] } };
    expect(blockers(inPhase('proving', { left: ['old-1'] }), nameless)).toEqual(['192.0.2.9 quiet_window']);
  });

  it('with an unreadable window is closed', () => {
    expect(evaluateClosing(inPhase('proving'), seen, { quietWindowMs: Number.NaN }, NOW).open).toBe(false);
  });

  it('is no thief’s to hold: after a leak, once the time has come, it says who is cut off', () => {
    const terms = { auto: 'off', batch: 1, narrowByMs: NOW } as const;
    const observed = { ...low, sightings: { ...quiet, sources: [source()] } };
    expect(gate(inPhase('proving', { reason: 'leak', terms }), observed)).toEqual({
      open: true,
      blockers: [],
      cutOff: ['old-1'],
    });
    const before = { ...terms, narrowByMs: NOW + 1 };
    expect(gate(inPhase('proving', { reason: 'leak', terms: before }), observed).open).toBe(false);
    expect(gate(inPhase('proving', { terms }), observed).open).toBe(false);
    expect(gate(inPhase('proving', { reason: 'leak', terms }), { hosts: [] }).open).toBe(false);
    expect(gate(inPhase('narrowing', { reason: 'leak', terms }), { probe: null }).open).toBe(false);
  });
});

describe('a cut', () => {
  const cut = (untilMs: number, changes: Partial<Rotation> = {}, leave: string[] = [], hosts = seen.hosts) =>
    decideClosingCut(inPhase('rolling', changes), { untilMs, leave }, { fleet: noPolicy, hosts }, NOW);
  const terms = { auto: 'off', batch: 1, narrowByMs: NOW + 5 } as const;

  it('ends it earlier, never later, and not in the past', () => {
    expect(cut(NOW + 3).terms?.narrowByMs).toBe(NOW + 3);
    expect(cut(NOW - 3).terms?.narrowByMs).toBe(NOW);
    expect(refusalOf(() => cut(NOW + 5, { terms }))).toBe('window_not_shortened');
    expect(refusalOf(() => cut(NOW + 4, { terms }))).toBe('accepted');
    expect(refusalOf(() => cut(Number.NaN))).toBe('window_not_shortened');
    expect(refusalOf(() => cut(NOW + 3, { phase: 'narrowing' }))).toBe('rotation_moved_on');
  });

  it('names whom it would strand', () => {
    const hosts = [host('web-1'), host('old-1', { proven: [] })];
    expect(refusalOf(() => cut(NOW + 3, {}, [], hosts))).toBe('would_strand');
    expect(cut(NOW + 3, {}, ['old-1'], hosts).left).toEqual(['old-1']);
  });
});

describe('who was sighted', () => {
  it('is one source however often it comes, the newest first, and a bounded number of them', () => {
    let sightings = quiet;
    for (const [at, address] of ['a', 'b', 'a', 'c'].entries()) {
      sightings = noteSighting(sightings, source({ address, atMs: at }), 2);
    }
    expect(sightings.sources.map(({ address, atMs }) => [address, atMs])).toEqual([
      ['c', 3],
      ['a', 2],
    ]);
    expect([sightings.count, sightings.forgottenAtMs]).toEqual([4, 1]);
    expect(noteSighting(sightings, source({ address: 'd', atMs: 9 }), 2).forgottenAtMs).toBe(2);
  });

  it('is not forgotten for one who comes under many names, from one network', () => {
    let sightings = noteSighting(quiet, source({ address: 'cron', atMs: 0 }), 3);
    for (let at = 1; at < 9; at += 1) {
      const many = source({ address: `mad ${at}`, userAgent: `curl/${at}`, atMs: at });
      sightings = noteSighting(sightings, many, 3, (address) => address.slice(0, 3));
    }
    expect(sightings.sources.map(({ address }) => address)).toEqual(['mad 8', 'mad 7', 'cron']);
    // The control: the one that was forgotten last is told.
    expect(sightings.forgottenAtMs).toBe(6);
  });

  it('was last there when the last one was who is waited for', () => {
    const sightings = {
      ...quiet,
      sources: [source({ host: 'a', atMs: NOW - 1 }), source({ host: 'b', atMs: NOW - 2 })],
    };
    expect(lastStoodOn(sightings, [])).toBe(NOW - 1);
    expect(lastStoodOn(sightings, ['a'])).toBe(NOW - 2);
    expect(lastStoodOn(sightings, ['a', 'b'])).toBe(quiet.countedSinceMs);
    expect(lastStoodOn({ ...sightings, forgottenAtMs: NOW }, ['a', 'b'])).toBe(NOW);
  });
});
