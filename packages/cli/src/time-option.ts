/** Times and durations as options: the error names the option that it is about. */
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { encodeTime, parseDuration, parseTime } from '@rollcall/core/time';

/** RFC 3339 in UTC for the wire. A duration counts from `nowMs`, which is the hub's: windows open and close on its clock (I7). */
export function timeOption(option: string, text: string, nowMs: number): string {
  return named(option, () => encodeTime(parseTime(text, nowMs)));
}

/** The same for what lies behind: a duration counts back. */
export function pastOption(option: string, text: string, nowMs: number): string {
  return named(option, () => {
    const isSpan = /^\d+(?:ms|s|m|h|d)$/.test(text);
    return encodeTime(isSpan ? Math.max(0, nowMs - parseDuration(text)) : parseTime(text, nowMs));
  });
}

/** Milliseconds, at least one. */
export function durationOption(option: string, text: string): number {
  return named(option, () => {
    const ms = parseDuration(text);
    if (ms < 1) throw new RollcallError('malformed_time');
    return ms;
  });
}

export function optionalDuration(option: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : durationOption(option, text);
}

/** The same, or none at all. */
export function optionalAge(option: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : named(option, () => parseDuration(text));
}

function named<T>(option: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw isRollcallError(error, 'malformed_time') ? new RollcallError('malformed_time', { option }) : error;
  }
}
