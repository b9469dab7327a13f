/** Times for a person: how long ago, how long yet, and the instant itself where it will be quoted. */

/** `3 s`, `12 min`, `26 h`, `9 d`: one unit, cut down, so that nothing looks older than it is. */
export function formatSpan(ms: number): string {
  const seconds = Math.floor(Math.abs(ms) / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** `3 s ago` or `in 6 d`; `never` for no time at all. */
export function formatAge(time: string | null, nowMs: number): string {
  if (time === null) return 'never';
  const ageMs = nowMs - Date.parse(time);
  if (!Number.isFinite(ageMs)) return 'unknown';
  return ageMs > -1_000 ? `${formatSpan(Math.max(0, ageMs))} ago` : `in ${formatSpan(ageMs)}`;
}

/** `2026-11-29T14:00:00Z (3 s ago)`: to be read and to be quoted. */
export function formatInstant(time: string | null, nowMs: number): string {
  return time === null ? 'never' : `${formatClock(time)} (${formatAge(time, nowMs)})`;
}

/** RFC 3339 to the second, as far as it is one. */
export function formatClock(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z');
}
