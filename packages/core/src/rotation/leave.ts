/** `--leave NAME…`: an operator's recorded decision to go on without named members. There is no `--force` (design 5). */

import { type ErrorCode, RollcallError } from '../errors.ts';

export interface LeaveNames {
  /** Named by the operator now. */
  readonly leave: readonly string[];
  /** Left before, in the same rotation. */
  readonly left: readonly string[];
}

/**
 * Everyone who is left from now on, sorted. The names must cover everyone concerned, and may name more hosts of the
 * roll. While they do not, `code` is thrown with the names that are missing.
 */
export function coverLeave(
  { leave, left }: LeaveNames,
  concerned: readonly string[],
  roll: readonly string[],
  code: ErrorCode,
): readonly string[] {
  const onRoll = new Set(roll);
  const unknown = leave.filter((name) => !onRoll.has(name));
  if (unknown.length > 0) throw new RollcallError('leave_unknown', { hosts: sorted(unknown) });
  const covered = new Set([...left, ...leave]);
  const missing = concerned.filter((name) => !covered.has(name));
  if (missing.length > 0) throw new RollcallError(code, { hosts: sorted(missing) });
  return sorted(covered);
}

function sorted(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].sort();
}
