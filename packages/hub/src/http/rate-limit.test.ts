import { describe, expect, it } from 'vitest';
import { codeOf } from '../hub.fixture.ts';
import { createRateLimit } from './rate-limit.ts';
import { createStrangerLimit } from './stranger-limit.ts';

/** How many of `tries` at one moment are let through. */
function passed(tries: number, take: () => number): number {
  return Array.from({ length: tries }, take).filter((waitMs) => waitMs === 0).length;
}

describe('a bucket', () => {
  it('gives a burst, then its rate, and says when to come again', () => {
    const limit = createRateLimit({ perSecond: 4, burst: 10 }, 8);
    expect(passed(20, () => limit.take('a', 0))).toBe(10);
    expect(limit.take('a', 0)).toBe(250);
    expect(limit.take('a', 125)).toBe(125);
    expect(limit.take('a', 250)).toBe(0);
    expect(passed(20, () => limit.take('a', 1_250))).toBe(4);
    // Another key is not concerned, and a long silence fills to the burst, no further.
    expect(passed(20, () => limit.take('b', 1_250))).toBe(10);
    expect(passed(20, () => limit.take('a', 1e9))).toBe(10);
  });

  it('gives nothing for a clock that goes back', () => {
    const limit = createRateLimit({ perSecond: 4, burst: 1 }, 8);
    expect([limit.take('a', 1_000), limit.take('a', 0)]).toEqual([0, 250]);
  });

  it('is one of so many: the key that was silent for longest is forgotten', () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1 }, 2);
    for (const key of ['a', 'b', 'a']) limit.take(key, 0);
    expect(limit.take('c', 0)).toBe(0);
    expect(limit.take('a', 0)).toBeGreaterThan(0);
    expect(limit.take('b', 0)).toBe(0);
  });
});

describe('strangers', () => {
  const rates = {
    inAll: { perSecond: 1, burst: 100 },
    perNetwork: { perSecond: 1, burst: 50 },
    perHost: { perSecond: 1, burst: 5 },
  };
  const ask = (limit: ReturnType<typeof createStrangerLimit>, from: string, host: string) => () =>
    codeOf(() => limit(from, host, 0));
  const count = async (tries: number, act: () => Promise<string>) => {
    const codes = await Promise.all(Array.from({ length: tries }, act));
    return codes.filter((code) => code === 'done').length;
  };

  it('behind one proxy: a host that misbehaves uses up its own share, and the others enrol', async () => {
    const limit = createStrangerLimit(rates);
    expect(await count(1_000, ask(limit, '192.0.2.1', 'mad'))).toBe(5);
    for (let host = 0; host < 45; host += 1) expect(await ask(limit, '192.0.2.1', `agent-${host}`)()).toBe('done');
    expect(await ask(limit, '192.0.2.1', 'agent-99')()).toBe('too_many_requests');
    // The control: from elsewhere there is room, until there is none in all.
    let others = 0;
    while ((await ask(limit, `198.51.100.${others}`, 'agent-1')()) === 'done') others += 1;
    expect(others).toBe(50);
  });

  it('that own a whole network are one stranger', async () => {
    const limit = createStrangerLimit({ ...rates, perHost: { perSecond: 1, burst: 1_000 } });
    let passing = 0;
    while ((await ask(limit, `2001:db8::${passing.toString(16)}`, 'x')()) === 'done') passing += 1;
    expect(passing).toBe(50);
  });
});
