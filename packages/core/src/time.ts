/** Times and durations as text: RFC 3339 for instants, a number with one unit for spans (design 8). */
import { RollcallError } from './errors.ts';

/** Milliseconds of one unit. */
const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const DURATION_PATTERN = /^(0|[1-9]\d{0,14})(ms|s|m|h|d)$/;
const RFC3339_PATTERN = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The last instant that RFC 3339 can write with four digits of year. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Milliseconds of a span such as `90s`, `10m`, `24h`, `7d` or `250ms`. Throws `malformed_time`. */
export function parseDuration(text: string): number {
  const match = DURATION_PATTERN.exec(text);
  const ms = Number(match?.[1]) * (units[match?.[2] ?? ''] ?? Number.NaN);
  if (!Number.isSafeInteger(ms)) throw new RollcallError('malformed_time');
  return ms;
}

/**
 * Unix milliseconds of an instant: RFC 3339 with any offset, or a span counted from `nowMs`. Digits below the
 * millisecond are cut off; a second 60 is refused, since Unix time has none. Throws `malformed_time`.
 */
export function parseTime(text: string, nowMs: number): number {
  const atMs = DURATION_PATTERN.test(text) ? nowMs + parseDuration(text) : parseInstant(text);
  if (!(atMs >= 0 && atMs <= LAST_MS)) throw new RollcallError('malformed_time');
  return atMs;
}

/** Unix milliseconds of RFC 3339 text alone. Throws `malformed_time`. */
export function parseInstant(text: string): number {
  const match = RFC3339_PATTERN.exec(text);
  if (match === null) throw new RollcallError('malformed_time');
  const [, date, clock, fraction = '', sign, offsetHours = '00', offsetMinutes = '00'] = match;
  const written = `${date}T${clock}`;
  const localMs = Date.parse(`${written}Z`);
  // Date.parse takes 24:00:00, and days that a month does not have: what it understood must be what was written.
  if (!Number.isFinite(localMs) || !new Date(localMs).toISOString().startsWith(written))
    throw new RollcallError('malformed_time');
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) throw new RollcallError('malformed_time');
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return localMs + milliseconds - (sign === '-' ? -offsetMs : offsetMs);
}

/** RFC 3339 in UTC, with milliseconds. */
export function encodeTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
