import { limits } from '@rollcall/core/limits';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../fleet.fixture.ts';
import type { AcceptedToken } from './acceptance.ts';
import { createTokenCounters, type SeenCaller } from './token-counters.ts';

const four: AcceptedToken = { secret: 'api', version: 4, role: 'current' };
const three: AcceptedToken = { secret: 'api', version: 3, role: 'retiring' };
const other: AcceptedToken = { secret: 'other', version: 1, role: 'current' };
const cron: SeenCaller = { atMs: 0, address: '10.0.0.9', userAgent: 'curl/8', route: '/v1/host', declaredHost: null };

function held(...accepted: readonly AcceptedToken[]) {
  const counters = createTokenCounters(seededRandom('counters'));
  counters.hold(accepted);
  return counters;
}

describe('counters', () => {
  it('say zero for what was not presented: silence would be no evidence', () => {
    expect(held(four, three).reports()).toEqual([
      {
        secret: 'api',
        counter: expect.stringMatching(/^[\w-]{22}$/),
        hits: [
          { version: 4, count: 0 },
          { version: 3, count: 0 },
        ],
        samples: [],
      },
    ]);
  });

  it('count each version of each secret, and name who still sends the one that goes', () => {
    const counters = held(four, three, other);
    counters.note([four, other], cron);
    counters.note([three], { ...cron, declaredHost: 'agent-8' });
    counters.note([three, three], cron);
    const [api, rest] = counters.reports();
    expect(api?.hits).toEqual([
      { version: 4, count: 1 },
      { version: 3, count: 2 },
    ]);
    expect(rest?.hits).toEqual([{ version: 1, count: 1 }]);
    expect(api?.samples).toEqual([
      {
        at: '1970-01-01T00:00:00.000Z',
        address: '10.0.0.9',
        userAgent: 'curl/8',
        route: '/v1/host',
        host: 'agent-8',
        version: 3,
      },
      {
        at: '1970-01-01T00:00:00.000Z',
        address: '10.0.0.9',
        userAgent: 'curl/8',
        route: '/v1/host',
        host: null,
        version: 3,
      },
    ]);
  });

  it('name each caller once, the newest last, and no more than a beat has room for', () => {
    const counters = held(four, three);
    for (let at = 0; at < 50; at += 1) counters.note([three], { ...cron, atMs: at, userAgent: `job ${at % 10}` });
    const [api] = counters.reports();
    expect(api?.hits[1]).toEqual({ version: 3, count: 50 });
    expect(api?.samples.map(({ userAgent }) => userAgent)).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map((job) => `job ${job}`));
  });

  it('name the one cron job, however many names somebody else takes, for one secret and for all', () => {
    const accepted = Array.from({ length: limits.namedSecrets }, (_, at) => ({ ...three, secret: `s${at}` }));
    const counters = held(...accepted);
    counters.note(accepted.slice(0, 1), cron);
    for (let at = 1; at <= 120; at += 1) {
      // Of an IPv6 network one has as many addresses as one likes.
      counters.note(accepted, { ...cron, atMs: at, address: `2001:db8::${at}`, userAgent: `curl/${at}` });
    }
    const samples = counters.reports().flatMap((report) => report.samples);
    expect(samples).toContainEqual(expect.objectContaining({ address: cron.address, userAgent: cron.userAgent }));
    // The control: there is no more room than before, and the other has what nobody else needs.
    expect(samples).toHaveLength(limits.hitSamplesInAll);
    expect(samples).toContainEqual(expect.objectContaining({ userAgent: 'curl/120' }));
  });

  it('name who sends the other version on the way back too, and never who sends what the host presents', () => {
    const counters = held({ ...three, role: 'current' }, { ...four, role: 'next' });
    counters.note([{ ...three, role: 'current' }], { ...cron, userAgent: 'in order' });
    counters.note([{ ...four, role: 'next' }], cron);
    const [api] = counters.reports();
    expect(api?.samples.map(({ userAgent, version }) => `${userAgent} ${version}`)).toEqual(['curl/8 4']);
  });

  it('keep what they name short and plain', () => {
    const counters = held(three);
    counters.note([three], { ...cron, address: 'a'.repeat(999), userAgent: `"\\\n\u0000é${'x'.repeat(999)}` });
    const [sample] = counters.reports()[0]?.samples ?? [];
    expect(sample?.userAgent).toMatch(/^\?{5}x{123}$/);
    expect(sample?.address.length).toBe(64);
  });

  it('fill no beat, however many secrets and callers there are', () => {
    const accepted = Array.from({ length: limits.namedSecrets }, (_, at) => ({ ...three, secret: `s${at}` }));
    const counters = held(...accepted);
    for (const token of accepted) {
      for (let job = 0; job < 20; job += 1)
        counters.note([token], {
          ...cron,
          userAgent: `${job}`.padEnd(200),
          route: 'r'.repeat(200),
          declaredHost: 'h'.repeat(128),
        });
    }
    const reports = counters.reports();
    expect(reports.flatMap(({ samples }) => samples).length).toBe(limits.hitSamplesInAll);
    expect(JSON.stringify(reports).length).toBeLessThan(limits.heartbeatBodyBytes / 2);
  });

  it('name a caller until the hub has heard of it, and anew when it comes again', () => {
    const counters = held(four, three);
    counters.note([three], cron);
    const sent = counters.reports();
    expect(counters.reports()).toEqual(sent);
    counters.note([three], { ...cron, userAgent: 'wget' });
    counters.reported(sent);
    expect(counters.reports()[0]?.samples.map(({ userAgent }) => userAgent)).toEqual(['wget']);
    const again = counters.reports();
    counters.note([three], { ...cron, userAgent: 'wget', atMs: 5 });
    counters.reported(again);
    expect(counters.reports()[0]?.samples.map(({ at }) => at)).toEqual(['1970-01-01T00:00:00.005Z']);
    expect(counters.reports()[0]?.hits[1]).toEqual({ version: 3, count: 3 });
  });

  it('go on over a step, forget a secret that is held no more, and begin anew when it comes back', () => {
    const counters = held(four, three);
    counters.note([four], cron);
    const [before] = counters.reports();
    counters.hold([four]);
    expect(counters.reports()[0]).toEqual(before);
    counters.hold([other]);
    counters.note([four], cron);
    expect(counters.reports().map(({ secret }) => secret)).toEqual(['other']);
    counters.hold([four, other]);
    const after = counters.reports().find(({ secret }) => secret === 'api');
    expect(after?.hits).toEqual([{ version: 4, count: 0 }]);
    expect(after?.counter).not.toBe(before?.counter);
  });

  it('keep what is accepted, however many were tried and taken back since, and never more than a beat may name', () => {
    const one = { ...three, version: 1 };
    const counters = held({ ...one, role: 'current' });
    counters.note([one], cron);
    for (let version = 2; version < 9; version += 1) {
      const next: AcceptedToken = { ...four, version };
      counters.hold([one, next]);
      expect(counters.reports()[0]?.hits).toContainEqual({ version: 1, count: 1 });
      counters.note([next], cron);
      expect(counters.reports()[0]?.hits).toContainEqual({ version, count: 1 });
      // One that was verified by what is not held.
      counters.note([{ ...four, version: 90 }], cron);
      expect(counters.reports()[0]?.hits.length).toBeLessThanOrEqual(limits.countedVersions);
    }
    // The control: what is accepted no more gives way.
    expect(counters.reports()[0]?.hits.map(({ version }) => version)).toEqual([1, 6, 7, 8]);
  });

  it('keep the newest versions of many', () => {
    const counters = held(four);
    for (let version = 5; version < 12; version += 1)
      counters.hold([
        { ...four, version: version - 1 },
        { ...four, version },
      ]);
    expect(counters.reports()[0]?.hits.map(({ version }) => version)).toEqual([8, 9, 10, 11]);
  });
});

describe('counters that were kept', () => {
  it('go on under the same id', () => {
    const counters = held(four, three);
    counters.note([four], cron);
    const next = createTokenCounters(seededRandom('another start'), counters.encode());
    next.hold([four, three]);
    next.note([four], cron);
    expect(next.reports()[0]).toMatchObject({
      counter: counters.reports()[0]?.counter,
      hits: [
        { version: 4, count: 2 },
        { version: 3, count: 0 },
      ],
    });
  });

  it('begin anew where there are none', () => {
    const counters = held(four);
    const next = createTokenCounters(seededRandom('another start'));
    next.hold([four]);
    expect(next.reports()[0]?.counter).not.toBe(counters.reports()[0]?.counter);
  });

  it.each([
    [null],
    [[]],
    [{}],
    [{ counters: [{}] }],
    [{ counters: [{ secret: 'api', id: 'x', hits: [] }] }],
    [{ counters: 'x' }],
  ])('are refused where they are none: %j', (kept) => {
    expect(() => createTokenCounters(seededRandom('x'), kept as never)).toThrow();
  });
});
