/** Times and durations as options: the error names the option that it is about. */
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { encodeTime, parseDuration, parseTime } from '@rollcall/core/time';

/** RFC 3339 in UTC for the wire. A duration counts from now on this machine, which is the hub's: the socket is local. */
export function timeOption(option: string, text: string, nowMs: number): string {
  return named(option, () => encodeTime(parseTime(text, nowMs)));
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

function named<T>(option: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw isRollcallError(error, 'malformed_time') ? new RollcallError('malformed_time', { option }) : error;
  }
}
