import { describe, expect, it } from 'vitest';
import { isRollcallError, type RollcallError } from '../errors.ts';
import { limits } from '../limits.ts';
import { decideFirstUse, type ExposedWhy, type Exposure, type FirstUseHost, measureExposure } from './first-use.ts';
import { A, B } from './held.fixture.ts';

const day = limits.firstUseMinAgeMs;
const now = 10 * day;
const policy = { minAgeMs: day };

const ready: FirstUseHost = {
  id: 'agent-1',
  status: 'active',
  pin: 'none',
  everSeen: true,
  fresh: true,
  publishing: A,
  keys: [{ fingerprint: A, firstSeenAtMs: now - day }],
  withoutKeyAtMs: null,
  address: '192.0.2.1',
};

type Case = readonly [what: string, host: FirstUseHost, why: ExposedWhy | 'eligible' | 'neither'];

const cases: readonly Case[] = [
  ['publishes one key, and has for a day', ready, 'eligible'],
  ['was never enrolled', { ...ready, status: 'invited' }, 'invited'],
  ['is suspended', { ...ready, status: 'suspended' }, 'suspended'],
  ['has a pin that cannot be read', { ...ready, pin: 'unreadable' }, 'pin_unreadable'],
  [
    'was never seen',
    { ...ready, everSeen: false, fresh: false, publishing: null, keys: [], address: null },
    'never_seen',
  ],
  ['has keys that cannot be read', { ...ready, areKeysUnreadable: true }, 'keys_unreadable'],
  ['has keys that can be read', { ...ready, areKeysUnreadable: false }, 'eligible'],
  ['has fallen silent', { ...ready, fresh: false }, 'stale'],
  ['publishes nothing', { ...ready, publishing: null, keys: [] }, 'agent_too_old'],
  ['published once and stopped', { ...ready, publishing: null }, 'agent_too_old'],
  ['published none before its key', { ...ready, withoutKeyAtMs: now - day - 1 }, 'eligible'],
  ['published none since: two agents in its name', { ...ready, withoutKeyAtMs: now - day + 1 }, 'agent_too_old'],
  [
    'published none since, and nothing but its key for a day now',
    { ...ready, keys: [{ fingerprint: A, firstSeenAtMs: 0 }], withoutKeyAtMs: now - day },
    'eligible',
  ],
  [
    'published none before its key, both within a day',
    { ...ready, keys: [{ fingerprint: A, firstSeenAtMs: now - 2 }], withoutKeyAtMs: now - 3 },
    'too_new',
  ],
  [
    'published none, and its key at the same time',
    { ...ready, keys: [{ fingerprint: A, firstSeenAtMs: now - 2 }], withoutKeyAtMs: now - 2 },
    'too_new',
  ],
  ['showed two keys', { ...ready, keys: [...ready.keys, { fingerprint: B, firstSeenAtMs: 0 }] }, 'two_keys'],
  [
    'showed its key for less than a day',
    { ...ready, keys: [{ fingerprint: A, firstSeenAtMs: now - day + 1 }] },
    'too_new',
  ],
  ['has no readable first time', { ...ready, keys: [{ fingerprint: A, firstSeenAtMs: Number.NaN }] }, 'too_new'],
  ['is pinned', { ...ready, pin: 'pinned' }, 'neither'],
  ['is pinned and stale', { ...ready, pin: 'pinned', fresh: false }, 'neither'],
  ['is evicted', { ...ready, status: 'evicted' }, 'neither'],
];

describe('exposure', () => {
  it.each(cases)('a host that %s', (_what, host, why) => {
    const exposure = measureExposure([host], policy, now);
    const found = exposure.exposed[0]?.why ?? (exposure.eligible.length > 0 ? 'eligible' : 'neither');
    expect(found).toBe(why);
    expect(exposure.examined).toBe(1);
  });

  it('looks at every row in one pass, and puts none in both lists', () => {
    const hosts = cases.map(([, host], index) => ({ ...host, id: `agent-${index}` }));
    let rows = 0;
    function* query(): Generator<FirstUseHost> {
      for (const host of hosts) {
        rows += 1;
        yield host;
      }
    }
    const exposure = measureExposure(query(), policy, now);
    expect([rows, exposure.examined]).toEqual([cases.length, cases.length]);
    const those = (wanted: string) => cases.filter(([, , why]) => why === wanted).length;
    expect(exposure.exposed).toHaveLength(cases.length - those('eligible') - those('neither'));
    expect(exposure.eligible).toHaveLength(those('eligible'));
    expect(exposure.eligible[0]).toEqual({ id: 'agent-0', fingerprint: A });
  });

  it('shows what a person compares', () => {
    const { exposed } = measureExposure([{ ...ready, fresh: false }], policy, now);
    expect(exposed).toEqual([
      { id: 'agent-1', why: 'stale', fingerprint: A, address: '192.0.2.1', firstSeenAtMs: now - day },
    ]);
  });

  it('takes the age from the policy', () => {
    const host = { ...ready, keys: [{ fingerprint: A, firstSeenAtMs: now - 5 }] };
    expect(measureExposure([host], { minAgeMs: 5 }, now).eligible).toHaveLength(1);
    expect(measureExposure([host], { minAgeMs: 6 }, now).eligible).toHaveLength(0);
  });
});

describe('turning first use on', () => {
  const exposure: Exposure = measureExposure(
    [ready, { ...ready, id: 'agent-2', fresh: false }, { ...ready, id: 'agent-3', status: 'invited' }],
    policy,
    now,
  );
  const untilMs = now + 1;

  function refusalOf(exposedAcknowledged: number, until: number, measured: Exposure): RollcallError | undefined {
    try {
      decideFirstUse(measured, { exposedAcknowledged, untilMs: until }, now);
    } catch (error) {
      if (isRollcallError(error)) return error;
      throw error;
    }
    return undefined;
  }

  function codeOf(exposedAcknowledged: number, until: number = untilMs, measured: Exposure = exposure): string {
    return refusalOf(exposedAcknowledged, until, measured)?.code ?? 'none';
  }

  it('accepts exactly the eligible hosts with the one key each, when the number covers the exposed', () => {
    const grant = { untilMs, accepted: [{ id: 'agent-1', fingerprint: A }] };
    expect(decideFirstUse(exposure, { exposedAcknowledged: 2, untilMs }, now)).toEqual(grant);
    expect(decideFirstUse(exposure, { exposedAcknowledged: 3, untilMs }, now)).toEqual(grant);
  });

  it.each([1, 0, -1, Number.NaN])('refuses %d', (acknowledged) => {
    expect(codeOf(acknowledged)).toBe('exposure_not_acknowledged');
  });

  it.each([now, now - 1, 0, Number.NaN, now + limits.firstUseMaxMs + 1])('refuses a window until %d', (until) => {
    expect(codeOf(2, until)).toBe('window_out_of_bounds');
  });

  it('says what the operator has to look at', () => {
    expect(refusalOf(1, untilMs, exposure)?.details).toEqual({ exposed: 2, hosts: ['agent-2', 'agent-3'] });
    expect(refusalOf(2, now, exposure)?.details).toEqual({ maxMs: limits.firstUseMaxMs });
    const silent = measureExposure([{ ...ready, fresh: false }], policy, now);
    expect(refusalOf(1, untilMs, silent)?.details).toEqual({ examined: 1 });
  });

  it('takes the longest window', () => expect(codeOf(2, now + limits.firstUseMaxMs)).toBe('none'));

  it('refuses where nobody is eligible, an empty roll included', () => {
    expect(codeOf(0, untilMs, measureExposure([], policy, now))).toBe('nothing_eligible');
    expect(codeOf(1, untilMs, measureExposure([{ ...ready, fresh: false }], policy, now))).toBe('nothing_eligible');
  });
});
