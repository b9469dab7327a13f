import { describe, expect, it } from 'vitest';
import { refusalOf } from '../refusal.fixture.ts';
import {
  type Act,
  acceptedRungs,
  assertRungLeft,
  decidedFor,
  decideRung,
  heightOf,
  isRung,
  noPolicy,
  parseRung,
  type RungPolicy,
  type RungVerdict,
  ruleOf,
  rungs,
  rungsAbove,
} from './index.ts';

const rule = (isAccepted: boolean, reason = 'because') => ({ isAccepted, reason, sinceMs: 1 });
const closed: RungPolicy = { 'fleet-token': rule(false, 'everybody has climbed') };
const reopened: RungPolicy = { 'fleet-token': rule(true, 'its agent is mended on Monday') };

describe('a rung', () => {
  it('has its place', () => {
    expect(rungs.map(heightOf)).toEqual([0, 1, 2]);
    expect(rungsAbove('fleet-token')).toEqual(['host-token', 'derived']);
    expect(rungsAbove('derived')).toEqual([]);
  });

  it('is read, and nothing else is', () => {
    for (const rung of rungs) expect([isRung(rung), parseRung(rung)]).toEqual([true, rung]);
    for (const other of ['', 'Derived', 'fleet_token', 'toString', 'rung:derived', null, 0, ['derived']]) {
      expect(isRung(other)).toBe(false);
      expect(refusalOf(() => parseRung(other))).toBe('malformed_rung');
    }
  });
});

describe('who stands on a rung', () => {
  // biome-ignore format: a table
  it.each<[string, Act, (typeof rungs)[number], RungPolicy, RungPolicy, RungVerdict]>([
    ['is let in while nobody decided',     'heartbeat',          'fleet-token', noPolicy, noPolicy, 'accepted'],
    ['does what the rung is enough for',   'receive-deliveries', 'host-token',  noPolicy, noPolicy, 'accepted'],
    ['does no more than that',             'receive-deliveries', 'fleet-token', noPolicy, noPolicy, 'too_low'],
    ['obtains nothing by a bearer',        'obtain-certificate', 'derived',     noPolicy, noPolicy, 'too_low'],
    ['is refused where the fleet closed',  'heartbeat',          'fleet-token', closed,   noPolicy, 'refused'],
    ['is refused before what it wants',    'receive-deliveries', 'fleet-token', closed,   noPolicy, 'refused'],
    ['is not refused on another rung',     'heartbeat',          'host-token',  closed,   noPolicy, 'accepted'],
    ['is let in as that host',             'heartbeat',          'fleet-token', closed,   reopened, 'accepted'],
    ['is refused as that host',            'heartbeat',          'fleet-token', reopened, closed,   'refused'],
    ['is refused as that host alone',      'heartbeat',          'fleet-token', noPolicy, closed,   'refused'],
  ])('%s', (_name, act, rung, fleet, host, verdict) => {
    expect(decideRung(act, rung, fleet, host)).toBe(verdict);
  });

  it('is told nothing where a decision cannot be read, and is on every other rung', () => {
    for (const [fleet, host] of [
      [{ 'fleet-token': 'unreadable' }, noPolicy],
      [reopened, { 'fleet-token': 'unreadable' }],
    ] as [RungPolicy, RungPolicy][]) {
      expect(decideRung('heartbeat', 'fleet-token', fleet, host)).toBe('unreadable');
      expect(decideRung('heartbeat', 'derived', fleet, host)).toBe('accepted');
      expect(acceptedRungs(fleet, host)).toEqual(['host-token', 'derived']);
    }
  });
});

describe('the rule in force', () => {
  it('is the host’s own, else the fleet’s, else that nobody decided', () => {
    expect(ruleOf('fleet-token', closed, reopened)).toBe(reopened['fleet-token']);
    expect(ruleOf('fleet-token', closed, noPolicy)).toBe(closed['fleet-token']);
    expect(ruleOf('derived', closed, noPolicy)).toMatchObject({ isAccepted: true, sinceMs: null });
    expect(decidedFor('fleet-token', closed, reopened)).toBe('host');
    expect(decidedFor('fleet-token', closed, noPolicy)).toBe('fleet');
    expect(decidedFor('derived', closed, noPolicy)).toBe('nobody');
  });

  it('says why in each case', () => {
    for (const rung of rungs)
      expect(ruleOf(rung, noPolicy, noPolicy)).toHaveProperty('reason', expect.stringMatching(/./));
  });
});

describe('a policy', () => {
  const none = Object.fromEntries(rungs.map((rung) => [rung, rule(false)])) as RungPolicy;

  it('leaves one rung at least', () => {
    expect(refusalOf(() => assertRungLeft(none, noPolicy))).toBe('no_rung_left');
    expect(refusalOf(() => assertRungLeft(noPolicy, none))).toBe('no_rung_left');
    expect(refusalOf(() => assertRungLeft(none, { derived: 'unreadable' }))).toBe('no_rung_left');
    expect(refusalOf(() => assertRungLeft(none, reopened))).toBe('accepted');
    expect(refusalOf(() => assertRungLeft(closed, noPolicy))).toBe('accepted');
  });
});
