import { describe, expect, it } from 'vitest';
import { noPolicy, type Rung, type RungPolicy, type StandingHost, whoNeeds } from './index.ts';

const host = (changes: Partial<StandingHost>): StandingHost => ({
  id: 'web-1',
  status: 'active',
  proven: [],
  policy: noPolicy,
  ...changes,
});
const rule = (isAccepted: boolean) => ({ isAccepted, reason: 'x', sinceMs: 1 });

describe('a host needs a rung', () => {
  // biome-ignore format: a table
  it.each<[string, Rung, RungPolicy, Partial<StandingHost>, boolean]>([
    ['that nothing else was seen of',             'fleet-token', noPolicy, {}, true],
    ['and was never heard',                       'fleet-token', noPolicy, { status: 'active' }, true],
    ['not where it has climbed',                  'fleet-token', noPolicy, { proven: ['derived'] }, false],
    ['not where it has climbed by one step',      'fleet-token', noPolicy, { proven: ['host-token'] }, false],
    ['where what it climbed to is closed',        'fleet-token', { 'host-token': rule(false) }, { proven: ['host-token'] }, true],
    ['where that is closed for it alone',         'fleet-token', noPolicy, { proven: ['derived'], policy: { derived: rule(false) } }, true],
    ['where that cannot be read',                 'fleet-token', { derived: 'unreadable' }, { proven: ['derived'] }, true],
    ['that it was seen on, and on no other',      'host-token',  noPolicy, { proven: ['host-token'] }, true],
    ['not where it was seen on both',             'host-token',  noPolicy, { proven: ['host-token', 'derived'] }, false],
    ['not where it stands below',                 'derived',     noPolicy, { proven: ['host-token', 'derived'] }, false],
    ['while it is suspended, since it comes back','fleet-token', noPolicy, { status: 'suspended' }, true],
    ['of which nothing can be read',              'fleet-token', noPolicy, { status: 'unreadable' }, true],
    ['not once it is evicted',                    'fleet-token', noPolicy, { status: 'evicted' }, false],
    ['not before it enrols',                      'fleet-token', noPolicy, { status: 'invited' }, false],
    ['that its enrolment leads to',               'derived',     noPolicy, { status: 'invited' }, true],
    ['not where it is accepted for it alone',     'fleet-token', noPolicy, { policy: { 'fleet-token': rule(true) } }, false],
    ['not where it is refused for it already',    'fleet-token', noPolicy, { policy: { 'fleet-token': rule(false) } }, false],
  ])('%s', (_name, rung, fleet, changes, needs) => {
    expect(whoNeeds(rung, fleet, [host(changes)])).toEqual(needs ? ['web-1'] : []);
  });

  it('each by itself: a filter would lose the one that cannot be read, or that is not heard', () => {
    const hosts = [
      host({ id: 'a', proven: ['derived'] }),
      host({ id: 'b', status: 'unreadable' }),
      host({ id: 'c', status: 'suspended' }),
    ];
    expect(whoNeeds('fleet-token', noPolicy, hosts)).toEqual(['b', 'c']);
    expect(whoNeeds('fleet-token', noPolicy, [])).toEqual([]);
  });
});
