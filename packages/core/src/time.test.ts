import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RollcallError } from './errors.ts';
import { encodeTime, parseDuration, parseInstant, parseTime } from './time.ts';

const NOW_MS = Date.UTC(2026, 10, 29, 12);

function codeOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    return error instanceof RollcallError ? error.code : 'another error';
  }
  return undefined;
}

describe('parseDuration', () => {
  it.each([
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    's',
    '10',
    '-1s',
    '+1s',
    '1.5h',
    '1h30m',
    '01s',
    ' 1s',
    '1s ',
    '1S',
    '1w',
    '1 s',
    '99999999999999d',
    '٣s',
    '1e3s',
  ])('refuses %j', (text) => {
    expect(codeOf(() => parseDuration(text))).toBe('malformed_time');
  });

  it('is the number times its unit, for all that fit', () => {
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.constantFrom(['ms', 1], ['s', 1_000], ['m', 60_000], ['h', 3_600_000], ['d', 86_400_000]),
        (n, unit) => {
          expect(parseDuration(`${n}${unit[0]}`)).toBe(n * Number(unit[1]));
        },
      ),
    );
  });
});

describe('parseInstant', () => {
  it.each([
    ['2026-11-29T12:00:00Z', NOW_MS],
    ['2026-11-29t12:00:00z', NOW_MS],
    ['2026-11-29T13:30:00+01:30', NOW_MS],
    ['2026-11-29T04:00:00-08:00', NOW_MS],
    ['2026-11-29T12:00:00-00:00', NOW_MS],
    ['2026-11-29T12:00:00.5Z', NOW_MS + 500],
    ['2026-11-29T12:00:00.123999999Z', NOW_MS + 123],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['0000-01-01T00:00:00Z', Date.parse('0000-01-01T00:00:00Z')],
  ])('reads %s', (text, atMs) => {
    expect(parseInstant(text)).toBe(atMs);
  });

  it.each([
    '',
    'now',
    'latest',
    '2026-11-29',
    '2026-11-29T12:00:00',
    '2026-11-29 12:00:00Z',
    '2026-11-29T12:00Z',
    '2026-02-29T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-11-29T24:00:00Z',
    '2026-11-29T23:59:60Z',
    '2026-11-29T12:00:00.Z',
    '2026-11-29T12:00:00.1234567890Z',
    '2026-11-29T12:00:00+24:00',
    '2026-11-29T12:00:00+01:60',
    '2026-11-29T12:00:00+0100',
    '+02026-11-29T12:00:00Z',
    '2026-11-29T12:00:00Z ',
    '2026-11-29T12:00:00Z\n',
  ])('refuses %j', (text) => {
    expect(codeOf(() => parseInstant(text))).toBe('malformed_time');
  });
});

describe('parseTime', () => {
  it('reads an instant as it is, and a span from now', () => {
    expect(parseTime('2026-11-29T12:00:00Z', 5)).toBe(NOW_MS);
    expect(parseTime('10m', NOW_MS)).toBe(NOW_MS + 600_000);
  });

  it('refuses what lies before 1970 or after 9999', () => {
    expect(parseTime('1970-01-01T00:00:00Z', NOW_MS)).toBe(0);
    expect(codeOf(() => parseTime('1969-12-31T23:59:59Z', NOW_MS))).toBe('malformed_time');
    expect(parseTime('9999-12-31T23:59:59.999Z', NOW_MS)).toBe(Date.UTC(9999, 11, 31, 23, 59, 59, 999));
    expect(codeOf(() => parseTime('9999-12-31T23:59:59-01:00', NOW_MS))).toBe('malformed_time');
    expect(codeOf(() => parseTime('9000000d', NOW_MS))).toBe('malformed_time');
  });

  const instants = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) });

  it('reads back what encodeTime writes', () => {
    fc.assert(
      fc.property(instants, (atMs) => {
        expect(parseTime(encodeTime(atMs), NOW_MS)).toBe(atMs);
      }),
    );
  });

  it('gives one instant for every offset in which it is written', () => {
    const offsets = fc.integer({ min: -1_439, max: 1_439 });
    fc.assert(
      fc.property(fc.integer({ min: 86_400_000, max: Date.UTC(9999, 11, 30) }), offsets, (atMs, minutes) => {
        const local = encodeTime(atMs + minutes * 60_000).slice(0, -1);
        const [h, m] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((n) =>
          String(n).padStart(2, '0'),
        );
        expect(parseTime(`${local}${minutes < 0 ? '-' : '+'}${h}:${m}`, NOW_MS)).toBe(atMs);
      }),
    );
  });

  it('refuses every truncation and every extension', () => {
    fc.assert(
      fc.property(instants, fc.nat(22), fc.constantFrom('0', 'Z', ' ', '\n', '\0', '+'), (atMs, at, more) => {
        const text = encodeTime(atMs);
        expect(codeOf(() => parseTime(text.slice(0, at), NOW_MS))).toBe('malformed_time');
        expect(codeOf(() => parseTime(text + more, NOW_MS))).toBe('malformed_time');
      }),
    );
  });

  it('never throws anything else, whatever it is given', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^\d{1,6}[a-z]{1,2}$/), fc.stringMatching(/^[\d:TZ.+-]{0,32}$/)),
        (text) => {
          expect(['malformed_time', undefined]).toContain(codeOf(() => parseTime(text, NOW_MS)));
        },
      ),
    );
  });
});
