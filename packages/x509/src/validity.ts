/** Validity dates: whole seconds, begun a little early (design 6). */
import { limits } from '@rollcall/core/limits';

const SECOND_MS = 1_000;

/** Certificates know whole seconds: rounded down, so that none lives longer than was asked. */
export function wholeSeconds(ms: number): number {
  if (!Number.isSafeInteger(ms) || ms <= 0) throw new TypeError('wholeSeconds: not a time');
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}

/** Where validity begins: early enough for a host whose clock is a little behind. */
export function backdated(nowMs: number, byMs = 0): number {
  const bounded = Math.min(Math.max(byMs, limits.certificateBackdateMs), limits.certificateBackdateMaxMs);
  return wholeSeconds(nowMs - bounded);
}
