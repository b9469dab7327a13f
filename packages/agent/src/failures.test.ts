import { utf8 } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureOf, retryAfterMs, waitMs } from './failures.ts';
import { seededRandom } from './fleet.fixture.ts';

const wallMs = Date.parse('2026-03-01T12:00:00Z');

describe('the kind of a failure', () => {
  it.each([
    [401, '{"error":"node token invalid"}', 'unauthenticated'],
    [401, '{"code":"internal"}', 'unauthenticated'],
    [403, '{"code":"host_mismatch"}', 'host_mismatch'],
    [403, 'no json', 'host_mismatch'],
    [404, '', 'not_found'],
    [429, '', 'too_many_requests'],
    [500, '{"code":"internal"}', 'internal'],
    [500, '{"code":"no_such_code"}', 'unavailable'],
    [502, '<html>', 'unavailable'],
    [503, '{"code":"unavailable"}', 'unavailable'],
    [503, '{"code":"constructor"}', 'unavailable'],
    [503, '{"code":"unauthenticated"}', 'unavailable'],
    [302, '', 'hub_answer_unusable'],
    [204, '', 'hub_answer_unusable'],
  ])('%s %s is %s', (status, body, code) => {
    expect(failureOf('heartbeat', { status, headers: {}, body: utf8(body) })).toBe(code);
  });

  it('of a refused enrolment is another than that of a refused heartbeat', () => {
    expect(failureOf('enrol', { status: 401, headers: {}, body: new Uint8Array() })).toBe('enrolment_refused');
  });
});

describe('the wait after a failure', () => {
  it('grows with jitter, is never below a second, and never above the cap', () => {
    const now = { wallMs, monotonicMs: 0, random: seededRandom('wait') };
    const waits = Array.from({ length: 200 }, (_, index) => waitMs(1 + (index % 20), undefined, now));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(limits.backoffMaxMs);
    expect(Math.max(...waits)).toBeGreaterThan(limits.backoffMaxMs / 2);
    expect(new Set(waits).size).toBeGreaterThan(100);
  });

  it.each([
    ['7', 7_000],
    ['100000', limits.backoffMaxMs],
    ['0', 1_000],
    ['-5', 1_000],
    ['soon', 1_000],
    ['Sun, 01 Mar 2026 12:00:20 GMT', 20_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 1_000],
  ])('is at least what Retry-After %s asks, within the cap', (text, leastMs) => {
    const answer = { status: 429, headers: { 'retry-after': text }, body: new Uint8Array() };
    const delayMs = waitMs(1, answer, { wallMs, monotonicMs: 0, random: seededRandom('retry') });
    expect(delayMs).toBeGreaterThanOrEqual(leastMs);
    expect(delayMs).toBeLessThanOrEqual(Math.max(leastMs, 2_000));
  });

  it('takes any text of a Retry-After for a time or for nothing', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const askedMs = retryAfterMs(text, wallMs);
        expect(askedMs === undefined || (Number.isFinite(askedMs) && askedMs >= 0)).toBe(true);
      }),
    );
  });
});
