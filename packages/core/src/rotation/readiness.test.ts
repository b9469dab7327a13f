import { describe, expect, it } from 'vitest';
import { type HubCheck, type Readiness, readiness } from './readiness.ts';
import { generations, invitedHost, now, rollHost } from './roll.fixture.ts';
import type { RollHost } from './roll.ts';
import { sweepRoll } from './sweep.ts';

const checks: readonly HubCheck[] = [
  { code: 'database', ok: true, hint: '' },
  { code: 'pin_store', ok: true, hint: '' },
];
const good = rollHost('agent-1');

function judge(hosts: readonly RollHost[], hubChecks: readonly HubCheck[] = checks, until: number = now): Readiness {
  return readiness(sweepRoll(hosts, generations(until), now), hubChecks);
}

function problems(of: Readiness): readonly string[] {
  return of.problems.map(({ code, hosts }) => [code, ...hosts].join(' '));
}

describe('readiness', () => {
  it('is given when every check passes, the roll is not empty and nothing is wrong', () => {
    expect(judge([good])).toEqual({
      ready: true,
      safeToRetire: { master: true },
      retireNow: { master: true },
      examined: 1,
      hostsNotProvenOnCurrent: 0,
      hostsUnattributed: 0,
      hostsWithoutUsablePin: 0,
      hostsUnusableKey: 0,
      hostsHoldingMaster: 0,
      pendingPins: 0,
      previousVerifiesUntilMs: now,
      problems: [],
    });
  });

  it('is not given for an empty roll', () => {
    expect(judge([])).toMatchObject({ ready: false, examined: 0, problems: [{ code: 'empty_roll', hosts: [] }] });
  });

  it('is not given when one check of the hub fails, an unreadable pin store above all', () => {
    const failed = { code: 'pin_store', ok: false, hint: 'See the log.' };
    const judged = judge([good], [...checks.slice(0, 1), failed]);
    expect(judged.ready).toBe(false);
    expect(judged.problems).toEqual([{ code: 'pin_store', hosts: [], hint: 'See the log.' }]);
  });

  // biome-ignore format: a table
  it.each<[what: string, host: RollHost, found: readonly string[]]>([
    ['on the old version', rollHost('b', { provenVersion: 1 }), ['not_proven_on_current b']],
    ['invited', invitedHost('b'), ['not_proven_on_current b', 'unattributed b', 'without_usable_pin b']],
    ['without a pin', rollHost('b', { pin: 'none' }), ['without_usable_pin b']],
    [
      'with an unreadable pin',
      rollHost('b', { pin: 'unreadable', unreadable: ['pin'] }),
      ['without_usable_pin b', 'rows_unreadable b'],
    ],
    ['with an unreadable assignment', rollHost('b', { unreadable: ['assignment'] }), ['rows_unreadable b']],
    ['with an unusable key', rollHost('b', { unusableKey: true }), ['unusable_key b']],
    ['with a pending change', rollHost('b', { pendingPins: 2 }), ['pin_pending b']],
    ['presenting the old version', rollHost('b', { presentingOld: true }), ['presenting_old b']],
    ['stale', rollHost('b', { fresh: false }), []],
    ['evicted', { ...invitedHost('b'), status: 'evicted' }, []],
    ['holding the master', rollHost('b', { holdsMaster: true }), []],
  ])('names a host that is %s', (_what, host, found) => {
    const judged = judge([good, host]);
    expect(problems(judged)).toEqual(found);
    expect(judged.ready).toBe(found.length === 0);
  });

  it('names hosts sorted, and lets counters overlap', () => {
    const judged = judge([invitedHost('b'), invitedHost('a'), rollHost('c', { pendingPins: 3, holdsMaster: true })]);
    expect(problems(judged)[0]).toBe('not_proven_on_current a b');
    expect(judged).toMatchObject({
      hostsNotProvenOnCurrent: 2,
      hostsUnattributed: 2,
      hostsWithoutUsablePin: 2,
      hostsHoldingMaster: 1,
      pendingPins: 3,
    });
  });

  it('tells an open window from a closed one', () => {
    expect(judge([good], checks, now + 1)).toMatchObject({
      ready: true,
      safeToRetire: { master: false },
      retireNow: { master: true },
      previousVerifiesUntilMs: now + 1,
    });
  });
});

it('blames nobody for the old version after a leak: it may be the thief who sends it', () => {
  const problemsOf = (leaked: boolean) =>
    readiness(sweepRoll([rollHost('agent-1', { presentingOld: true })], generations(now, leaked), now), []).problems;
  expect(problemsOf(false).map(({ code, hosts }) => [code, hosts])).toEqual([['presenting_old', ['agent-1']]]);
  expect(problemsOf(true)).toEqual([]);
});
