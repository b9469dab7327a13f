/** Who was left when it went, and comes again in the middle of a walk, is waited for: nothing was accepted of whoever it is now. */
import type { Hub } from '../../hub.ts';
import { findRunning, updateRotation } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';

export async function takeBack(
  hub: Pick<Hub, 'vault'>,
  tx: Tx,
  secrets: readonly string[],
  members: readonly string[],
): Promise<void> {
  const back = new Set(members);
  for (const secret of secrets) {
    const rotation = await findRunning(tx, hub.vault, secret);
    const left = rotation?.left.filter((member) => !back.has(member)) ?? [];
    if (rotation === undefined || left.length === rotation.left.length) continue;
    await updateRotation(tx, hub.vault, { ...rotation, left }, rotation.phase);
  }
}
