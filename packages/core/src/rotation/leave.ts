/** `--leave NAME…`: an operator's recorded decision to go on without named members. There is no `--force` (design 5). */

import { type ErrorCode, RollcallError } from '../errors.ts';

/**
 * Who is left from now on, sorted. The names must cover everyone concerned who was not left before; they may name more
 * hosts of the roll. `code` is thrown, with the names, while they do not.
 */
export function coverLeave(
  names: { readonly leave: readonly string[]; readonly leftBefore: readonly string[] },
  concerned: readonly string[],
  roll: Iterable<{ readonly id: string }>,
  code: ErrorCode,
): readonly string[] {
  const onRoll = new Set<string>();
  for (const host of roll) onRoll.add(host.id);
  const unknown = names.leave.filter((name) => !onRoll.has(name));
  if (unknown.length > 0) throw new RollcallError('leave_unknown', { hosts: [...new Set(unknown)].sort() });
  const left = new Set([...names.leftBefore, ...names.leave]);
  const missing = concerned.filter((name) => !left.has(name));
  if (missing.length > 0) throw new RollcallError(code, { hosts: [...new Set(missing)].sort() });
  return [...left].sort();
}
