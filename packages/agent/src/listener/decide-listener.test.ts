import { limits } from '@rollcall/core/limits';
import { describe, expect, it } from 'vitest';
import { decideListener, type ListenerFacts } from './decide-listener.ts';
import { holding, tokenStep } from './listener.fixture.ts';

const HUB_TIME = Date.parse('2026-03-01T12:00:00Z');
const NOW = 50_000;
const HOUR_MS = 3_600_000;
const facts: ListenerFacts = {
  listen: '0.0.0.0:7444',
  assignments: holding([tokenStep(1, [1])], [2]),
  isEmpty: false,
  certificate: { notBeforeMs: HUB_TIME - HOUR_MS, notAfterMs: HUB_TIME + HOUR_MS },
  confirmation: { generations: [2], hubTimeMs: HUB_TIME, monotonicMs: NOW },
  hasResumed: false,
  isOpen: false,
  isTaking: false,
};
const confirmed = (changes: object) => ({
  confirmation: { generations: [2], hubTimeMs: HUB_TIME, monotonicMs: NOW, ...changes },
});
const longLived = { certificate: { notBeforeMs: 0, notAfterMs: Number.MAX_SAFE_INTEGER } };

describe('a listener is open', () => {
  it.each<[string, Partial<ListenerFacts>, number]>([
    ['with everything', {}, NOW],
    ['while the hub verifies an old generation beside that of the host', confirmed({ generations: [1, 2] }), NOW],
    ['while the hub has a newer generation beside it', confirmed({ generations: [2, 3] }), NOW],
    ['to the last moment of the window', longLived, NOW + limits.verifyWindowMs - 1],
    ['to the last moment of a window that the hub has named', confirmed({ windowMs: 10_000 }), NOW + 9_999],
    ['to the last moment of its certificate', {}, NOW + HOUR_MS - 1],
    ['while something new is written, if it was', { isOpen: true, isTaking: true }, NOW],
    ['of a host in the middle of a rotation of the master', { assignments: holding([], [2, 1]) }, NOW],
  ])('%s', (_, changes, now) => {
    expect(decideListener({ ...facts, ...changes }, now)).toEqual({ open: true });
  });
});

describe('a listener is closed', () => {
  it.each<[string, string, Partial<ListenerFacts>, number?]>([
    ['listener_not_configured', 'where none is configured', { listen: undefined }],
    ['listener_no_credential', 'with nothing to demand', { isEmpty: true }],
    ['listener_no_certificate', 'without a certificate', { certificate: undefined }],
    ['listener_unconfirmed', 'before the hub has confirmed anything', { confirmation: undefined }],
    ['listener_unconfirmed', 'after a resume', { hasResumed: true }],
    ['listener_unconfirmed', 'before what came with the confirmation is written', { isTaking: true }],
    ['listener_unconfirmed', 'when the window is over', longLived, NOW + limits.verifyWindowMs],
    [
      'listener_unconfirmed',
      'when the window that the hub has named is over',
      confirmed({ windowMs: 10_000 }),
      NOW + 10_000,
    ],
    ['listener_unconfirmed', 'when the clock went back', {}, NOW - 1],
    ['listener_unconfirmed', 'when another generation is in force', confirmed({ generations: [3] })],
    ['listener_unconfirmed', 'when none is in force', confirmed({ generations: [] })],
    [
      'listener_unconfirmed',
      'when it accepts the one in force, and presents another',
      { assignments: holding([], [1, 2]) },
    ],
    ['listener_unconfirmed', 'without a master', { assignments: new Map([['api', tokenStep(1, [1])]]) }],
    ['listener_certificate_expired', 'with an expired certificate', {}, NOW + HOUR_MS],
    [
      'listener_certificate_expired',
      'with one that is not valid yet',
      { certificate: { notBeforeMs: HUB_TIME + 1, notAfterMs: HUB_TIME + HOUR_MS } },
    ],
  ])('%s: %s', (reason, _, changes, now = NOW) => {
    expect(decideListener({ ...facts, ...changes }, now)).toEqual({ open: false, reason });
    expect(decideListener(facts, NOW)).toEqual({ open: true });
  });
});
