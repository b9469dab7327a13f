import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Generation, isWindowOpen, previousGeneration } from './generations.ts';
import { generations, invitedHost, now, rollHost } from './roll.fixture.ts';
import type { RollHost } from './roll.ts';
import { retireNow, safeToRetire, strandedByRetiring, sweepRoll } from './sweep.ts';

const open = generations(now + 1);
const closed = generations(now);

/** Two sources, as a plausible wrong version reads them: the registry, and a table of pins that outlives its hosts. */
interface Store {
  readonly hosts: readonly RollHost[];
  readonly pinRows: readonly string[];
  readonly generations: readonly Generation[];
}

function store(
  hosts: readonly RollHost[],
  rows: readonly Generation[] = closed,
  leftoverPins: readonly string[] = [],
): Store {
  const pinRows = [...hosts.filter((host) => host.pin === 'usable').map((host) => host.id), ...leftoverPins];
  return { hosts, pinRows, generations: rows };
}

const good = [rollHost('agent-1'), rollHost('agent-2')];

type Case = readonly [what: string, store: Store, safe: boolean];

// biome-ignore format: a table
const cases: readonly Case[] = [
  ['all pinned, all proven, window closed', store(good), true],
  ['a roll of zero', store([]), false],
  ['no previous generation', store(good, [{ version: 2, state: 'current', verifyUntilMs: null, leaked: false }]), false],
  ['no generation at all', store(good, []), false],
  ['the window is open', store(good, open), false],
  ['the window has no readable end', store(good, generations(Number.NaN)), true],
  ['an invited host without a pin', store([...good, invitedHost('agent-3')]), false],
  ['an invited host that is pinned and proven', store([...good, rollHost('agent-3', { status: 'invited' })]), true],
  ['a leftover pin beside an unpinned host', store([...good, rollHost('agent-3', { pin: 'none' })], closed, ['removed-1']), false],
  ['a leftover pin beside nothing that lacks one', store(good, closed, ['removed-1']), true],
  ['a pin that cannot be read', store([...good, rollHost('agent-3', { pin: 'unreadable' })]), false],
  ['a stale host on the old generation', store([...good, rollHost('agent-3', { fresh: false, provenVersion: 1 })]), false],
  ['a stale host that has proven', store([...good, rollHost('agent-3', { fresh: false })]), true],
  ['a suspended host on the old generation', store([...good, rollHost('agent-3', { status: 'suspended', provenVersion: 1 })]), false],
  ['a pinned host that was never attributed', store([...good, rollHost('agent-3', { provenVersion: null })]), false],
  ['only unattributed hosts', store([rollHost('agent-3', { provenVersion: null })]), false],
  ['an evicted host without anything', store([...good, { ...invitedHost('agent-3'), status: 'evicted' }]), true],
  ['a removed host', store([rollHost('agent-1')], closed, ['agent-2']), true],
  ['nobody pinned', store([rollHost('agent-1', { pin: 'none' })]), false],
];

type Judge = (store: Store) => boolean;

const judge: Judge = ({ hosts, generations }) => safeToRetire(sweepRoll(hosts, generations, now));

function failures(judge: Judge): readonly string[] {
  return cases.filter(([, store, safe]) => judge(store) !== safe).map(([what]) => what);
}

describe('safe to retire', () => {
  it.each(cases)('%s', (_what, store, safe) => expect(judge(store)).toBe(safe));

  it('counts every removal of one piece of evidence', () => {
    const lacks: readonly Partial<RollHost>[] = [{ pin: 'none' }, { provenVersion: 1 }, { provenVersion: null }];
    for (const lack of lacks) expect(judge(store([...good, rollHost('agent-3', lack)]))).toBe(false);
    expect(judge(store([...good, rollHost('agent-3')]))).toBe(true);
  });
});

describe('plausible wrong versions', () => {
  const windowClosed = (rows: readonly Generation[]) => {
    const previous = previousGeneration(rows);
    return previous !== null && !isWindowOpen(previous.verifyUntilMs, now);
  };
  /** The right sweep over a smaller set. */
  const over =
    (keep: (host: RollHost) => boolean): Judge =>
    ({ hosts, generations }) =>
      safeToRetire(sweepRoll(hosts.filter(keep), generations, now));

  const wrong: Readonly<Record<string, readonly [judge: Judge, caughtBy: string]>> = {
    'pinned = considered': [over((host) => host.pin === 'usable'), 'an invited host without a pin'],
    'only active hosts are considered': [
      over((host) => host.status === 'active'),
      'a suspended host on the old generation',
    ],
    'only fresh hosts are considered': [over((host) => host.fresh), 'a stale host on the old generation'],
    'invited hosts have nothing to lose': [over((host) => host.status !== 'invited'), 'an invited host without a pin'],
    'totals are compared': [
      ({ hosts, pinRows, generations: rows }) =>
        pinRows.length >= hosts.length &&
        hosts.length > 0 &&
        hosts.every((host) => host.provenVersion === 2) &&
        windowClosed(rows),
      'a leftover pin beside an unpinned host',
    ],
    'nothing lacks anything on an empty roll': [
      ({ hosts, generations: rows }) => {
        const sweep = sweepRoll(hosts, rows, now);
        return sweep.previousVersion !== null && strandedByRetiring(sweep).length === 0 && sweep.windowClosed;
      },
      'a roll of zero',
    ],
    'unreadable reads as pinned': [
      ({ hosts, generations: rows }) =>
        safeToRetire(
          sweepRoll(
            hosts.map((host) => (host.pin === 'none' ? host : { ...host, pin: 'usable' })),
            rows,
            now,
          ),
        ),
      'a pin that cannot be read',
    ],
    'the window does not matter': [
      ({ hosts, generations: rows }) => retireNow(sweepRoll(hosts, rows, now)),
      'the window is open',
    ],
  };

  it('the right one passes every case', () => expect(failures(judge)).toEqual([]));
  it.each(Object.entries(wrong))('%s: is caught', (_name, [judge, caughtBy]) => {
    expect(failures(judge)).toContain(caughtBy);
  });
});

describe('the sweep', () => {
  const host: fc.Arbitrary<RollHost> = fc
    .record({
      status: fc.constantFrom('invited', 'active', 'suspended', 'evicted'),
      fresh: fc.boolean(),
      pin: fc.constantFrom('none', 'unreadable', 'usable'),
      unusableKey: fc.boolean(),
      pendingPins: fc.integer({ min: 0, max: 4 }),
      holdsMaster: fc.boolean(),
      provenVersion: fc.constantFrom(null, 1, 2),
      presentingOld: fc.boolean(),
    } as const)
    .map((changes) => rollHost('', changes));
  const roll = fc.array(host, { maxLength: 12 }).map((hosts) => hosts.map((one, n) => ({ ...one, id: `agent-${n}` })));

  it('examines every row that the registry query returns', () => {
    fc.assert(
      fc.property(roll, (hosts) => {
        let rows = 0;
        function* query(): Generator<RollHost> {
          for (const one of hosts) {
            rows += 1;
            yield one;
          }
        }
        const sweep = sweepRoll(query(), closed, now);
        expect([rows, sweep.examined]).toEqual([hosts.length, hosts.length]);
        expect(sweep.roll).toEqual(hosts.map((one) => one.id));
      }),
    );
  });

  it('names a host in each counter that fits, and an evicted one in none', () => {
    const all = rollHost('agent-1', {
      provenVersion: null,
      pin: 'unreadable',
      unusableKey: true,
      presentingOld: true,
      holdsMaster: true,
      pendingPins: 3,
      unreadable: ['pin'],
    });
    const names = ['agent-1'];
    expect(sweepRoll([all, { ...all, id: 'agent-2', status: 'evicted' }], closed, now)).toEqual({
      examined: 2,
      roll: ['agent-1', 'agent-2'],
      notProvenOnCurrent: names,
      unattributed: names,
      withoutUsablePin: names,
      rowsUnreadable: names,
      unusableKey: names,
      presentingOld: names,
      holdingMaster: names,
      pendingPin: names,
      pendingPins: 3,
      evicted: ['agent-2'],
      currentVersion: 2,
      previousVersion: 1,
      previousVerifiesUntilMs: now,
      previousLeaked: false,
      windowClosed: true,
    });
    const nobody = sweepRoll([rollHost('agent-1')], closed, now);
    expect([nobody.notProvenOnCurrent, nobody.withoutUsablePin, nobody.pendingPin]).toEqual([[], [], []]);
  });

  it('is never made safe by one more host on the roll', () => {
    fc.assert(
      fc.property(roll, host, (hosts, another) => {
        fc.pre(hosts.length > 0);
        const before = sweepRoll(hosts, closed, now);
        const after = sweepRoll([...hosts, { ...another, id: 'another' }], closed, now);
        expect(safeToRetire(after) && !safeToRetire(before)).toBe(false);
        expect(retireNow(after) && !retireNow(before)).toBe(false);
      }),
    );
  });
});

describe('retire now', () => {
  it('needs everything but the window', () => {
    const sweep = sweepRoll(good, open, now);
    expect([retireNow(sweep), safeToRetire(sweep)]).toEqual([true, false]);
    expect(retireNow(sweepRoll([], open, now))).toBe(false);
    expect(retireNow(sweepRoll(good, [], now))).toBe(false);
    expect(sweepRoll(good, [], now).notProvenOnCurrent).toEqual(good.map(({ id }) => id));
    const currentAlone = open.filter(({ state }) => state === 'current');
    expect(retireNow(sweepRoll(good, currentAlone, now))).toBe(false);
    expect(sweepRoll(good, [], now)).toMatchObject({
      previousVersion: null,
      previousLeaked: false,
      windowClosed: true,
    });
    expect(retireNow(sweepRoll([...good, invitedHost('agent-3')], open, now))).toBe(false);
  });

  it('waits for a host that went back to the old version, but not after a leak: it may be the thief', () => {
    const hosts = [...good, rollHost('agent-3', { presentingOld: true })];
    expect(retireNow(sweepRoll(hosts, open, now))).toBe(false);
    expect(retireNow(sweepRoll(hosts, generations(now + 1, true), now))).toBe(true);
    expect(retireNow(sweepRoll([...hosts, invitedHost('agent-4')], generations(now + 1, true), now))).toBe(false);
  });

  it('names each host once, sorted', () => {
    const sweep = sweepRoll(
      [invitedHost('b'), rollHost('c', { provenVersion: 1 }), rollHost('d'), invitedHost('a')],
      open,
      now,
    );
    expect(strandedByRetiring(sweep)).toEqual(['a', 'b', 'c']);
  });
});
