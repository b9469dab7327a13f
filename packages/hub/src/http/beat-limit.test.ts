import { limits } from '@rollcall/core/limits';
import { describe, expect, it } from 'vitest';
import { createBeatLimit, createUnlistedBeatLimit } from './beat-limit.ts';

/** How many of `tries` at one moment are let through. */
function passed(tries: number, take: (turn: number) => number): number {
  return Array.from({ length: tries }, (_, turn) => take(turn)).filter((waitMs) => waitMs === 0).length;
}

const HOME = '192.0.2.1';
const ELSEWHERE = '198.51.100.1';
const MINUTE_MS = 60_000;

describe('the beats of a host', () => {
  const [x, y] = [{}, {}];

  it('are limited for each running agent, and no host is concerned by another', () => {
    const limit = createBeatLimit();
    expect(passed(1_000, () => limit.take(x, 'one', HOME, 0))).toBe(limits.beatsBurst);
    expect(passed(1_000, () => limit.take(x, 'one', HOME, 1_000))).toBe(limits.beatsPerSecond);
    expect(limit.take(y, 'one', HOME, 1_000)).toBe(0);
    // Another rung has a limit of its own.
    expect(createBeatLimit().take(x, 'one', HOME, 1_000)).toBe(0);
  });

  it('of the true machine pass while a thief with its bearer floods with new instances for an hour', () => {
    const limit = createBeatLimit();
    expect(limit.take(x, 'true', HOME, 0)).toBe(0);
    let taken = 0;
    for (let second = 1; second <= 3_600; second += 1) {
      const nowMs = second * 1_000;
      for (let beat = 0; beat < 50; beat += 1) {
        if (limit.take(x, `thief ${second} ${beat}`, HOME, nowMs) === 0) taken += 1;
      }
      if (second % 10 === 0) expect(limit.take(x, 'true', HOME, nowMs), `after ${second} s`).toBe(0);
    }
    expect(taken).toBeLessThanOrEqual(limits.beatInstancesPerHost + 3_600_000 / limits.newInstanceEveryMs);
    expect(taken).toBeGreaterThan(300);
  });

  it('pass for an agent that is restarted in a loop, as a supervisor does it', () => {
    const limit = createBeatLimit();
    expect(passed(limits.beatInstancesPerHost, () => limit.take(x, String(Math.random()), HOME, 0))).toBe(
      limits.beatInstancesPerHost,
    );
    expect(limit.take(x, 'one more', HOME, 0)).toBe(limits.newInstanceEveryMs);
    expect(limit.take(x, 'one more', HOME, limits.newInstanceEveryMs)).toBe(0);
  });

  it('are forgotten with the host: one that comes anew has its whole share', () => {
    const limit = createBeatLimit();
    passed(1_000, () => limit.take(x, 'one', HOME, 0));
    expect(limit.take(x, 'one', HOME, 0)).toBeGreaterThan(0);
    expect(limit.take({}, 'one', HOME, 0)).toBe(0);
  });
});

describe('a thief with the bearer of a host', () => {
  const host = {};
  /** So that there is a whole burst for new ones. */
  const ALONE_UNTIL_MS = 305_000;
  /** The refused beats of the true machine in ten minutes. */
  const beatsOf = (limit: ReturnType<typeof createBeatLimit>, everyMs: number, thief: (nowMs: number) => void) => {
    let refused = 0;
    for (let nowMs = 0; nowMs < 10 * MINUTE_MS; nowMs += 100) {
      if (nowMs % everyMs === 0 && limit.take(host, 'true', HOME, nowMs) > 0) refused += 1;
      thief(nowMs);
    }
    return refused;
  };

  it.each([
    ['ten seconds', 10_000, HOME],
    ['ten seconds, from elsewhere', 10_000, ELSEWHERE],
    ['a minute', limits.beatMaxMs, HOME],
  ])(
    'brings sixteen new instances between two beats, and ten a second: one that beats every %s is never refused',
    (_, everyMs, from) => {
      const limit = createBeatLimit();
      let thieves = 0;
      let taken = 0;
      const refused = beatsOf(limit, everyMs, (nowMs) => {
        const come = nowMs === ALONE_UNTIL_MS ? limits.beatInstancesPerHost : nowMs > ALONE_UNTIL_MS ? 1 : 0;
        for (let each = 0; each < come; each += 1) {
          thieves += 1;
          if (limit.take(host, `thief ${thieves}`, from, nowMs) === 0) taken += 1;
        }
      });
      expect(refused).toBe(0);
      // The control: the thief does what it can, and is not let through at its own pace.
      expect(thieves).toBeGreaterThan(2_900);
      expect(taken).toBeGreaterThan(limits.beatInstancesPerHost);
      expect(taken).toBeLessThan(100);
    },
  );

  it('that holds all the places it can get, from as many networks as it likes, pushes nobody out', () => {
    const limit = createBeatLimit();
    let thieves = 0;
    const refused = beatsOf(limit, 10_000, (nowMs) => {
      // Each of a network of its own, and all of them heard again and again.
      thieves = Math.min(thieves + 1, 200);
      if (nowMs > 0) limit.take(host, `thief ${thieves}`, `198.51.100.${thieves}`, nowMs);
      if (nowMs % 1_000 === 0)
        for (let i = 1; i <= thieves; i += 1) limit.take(host, `thief ${i}`, `198.51.100.${i}`, nowMs);
    });
    expect(refused).toBe(0);
  });

  it('from elsewhere does not keep the true machine from starting anew, in the midst of the flood and after a restart of the hub', () => {
    let limit = createBeatLimit();
    let thieves = 0;
    const flood = (fromMs: number, untilMs: number) => {
      for (let nowMs = fromMs; nowMs < untilMs; nowMs += 100) {
        thieves += 1;
        limit.take(host, `thief ${thieves}`, ELSEWHERE, nowMs);
      }
    };
    expect(limit.take(host, 'true', HOME, 0)).toBe(0);
    flood(100, 10_000);
    expect(limit.take(host, 'started anew', HOME, 10_000)).toBe(0);
    flood(10_000, 20_000);
    expect(limit.take(host, 'started anew', HOME, 20_000)).toBe(0);
    limit = createBeatLimit();
    flood(20_000, 30_000);
    expect(limit.take(host, 'started anew', HOME, 30_000)).toBe(0);
    // What is left, and documented: from the same network nothing tells a new instance of the one from that of the other.
    expect(limit.take(host, 'yet another', ELSEWHERE, 30_000)).toBeGreaterThan(0);
  });

  it('has no place any more once it has been silent for a few intervals', () => {
    const limit = createBeatLimit();
    const many = limits.beatInstancesPerHost;
    expect(passed(many, (turn) => limit.take(host, `thief ${turn}`, ELSEWHERE, 0))).toBe(many);
    const laterMs = limits.heardKeptMs + 1;
    expect(passed(many, (turn) => limit.take(host, `true ${turn}`, HOME, laterMs))).toBe(many);
    // Half of the places are for one network: who has none takes turns, and those are used up.
    expect(limit.take(host, 'true 0', HOME, laterMs)).toBe(0);
    expect(limit.take(host, `true ${many - 1}`, HOME, laterMs)).toBeGreaterThan(0);
  });
});

describe('hosts on no roll, with the shared token alone', () => {
  /** Each every ten seconds for ten minutes. */
  const refusedOf = (hosts: number, take: (host: number, nowMs: number) => number) => {
    let refused = 0;
    for (let nowMs = 0; nowMs < 10 * MINUTE_MS; nowMs += 10_000) {
      refused += hosts - passed(hosts, (host) => take(host, nowMs + host));
    }
    return refused;
  };

  it.each<[string, (host: number) => readonly [string | null, string]]>([
    ['of their names, from one network', (host) => [`agent-${host}`, HOME]],
    ['of no name, from one network', () => [null, HOME]],
    ['of their names, from as many networks', (host) => [`agent-${host}`, `10.0.${host >> 8}.${host & 255}`]],
    ['of one name, from as many networks', (host) => ['agent', `10.0.${host >> 8}.${host & 255}`]],
  ])('are never refused, a thousand %s', (_, speaker) => {
    const limit = createUnlistedBeatLimit();
    const take = (host: number, nowMs: number) => {
      const [declared, from] = speaker(host);
      return limit.take(declared, `instance ${host}`, from, nowMs);
    };
    expect(refusedOf(1_000, take)).toBe(0);
    // The control: each of them has a limit of its own.
    expect(passed(1_000, () => take(7, 11 * MINUTE_MS))).toBe(limits.beatsBurst);
    expect(take(8, 11 * MINUTE_MS)).toBe(0);
  });

  it('are not pushed out by a thief of the token who says ever new names, nor by one who says theirs', () => {
    const limit = createUnlistedBeatLimit();
    let thieves = 0;
    const take = (host: number, nowMs: number) => {
      const waitMs = limit.take(`agent-${host}`, `instance ${host}`, HOME, nowMs);
      for (let each = 0; each < 50; each += 1) {
        thieves += 1;
        limit.take(`thief-$thieves`, `thief $thieves`, each === 0 ? HOME : ELSEWHERE, nowMs);
        limit.take(`agent-${host}`, `thief $thieves`, HOME, nowMs);
      }
      return waitMs;
    };
    expect(refusedOf(40, take)).toBe(0);
    expect(thieves).toBeGreaterThan(limits.unlistedHosts);
    // Another network has places, though the thief's has all that it can hold.
    const nowMs = 10 * MINUTE_MS;
    expect(passed(100, (host) => limit.take(`new-${host}`, `new ${host}`, '203.0.113.1', nowMs))).toBe(100);
  });
});
