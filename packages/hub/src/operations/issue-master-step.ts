/** New steps of hosts' master assignments: what the phase that the rotation stands in says (design 4, 5). */
import { RollcallError } from '@rollcall/core/errors';
import { assignmentSets, currentGeneration, liveGenerations } from '@rollcall/core/rotation';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { issueSteps, listAssignments } from '../store/assignments.ts';
import { listUndestroyed } from '../store/generations.ts';
import { findRunning } from '../store/rotations.ts';
import type { Tx } from '../store/schema.ts';

/** `switched`: whether the host's turn has come; left out, a host that had its turn keeps it. */
export function issueMasterStep(hub: StepHub, tx: Tx, host: string, switched?: boolean): Promise<void> {
  return issueMasterSteps(hub, tx, [host], switched);
}

/** One for each: what is the same for all of them is read once, since a whole roll may wait in this transaction. */
export async function issueMasterSteps(
  hub: StepHub,
  tx: Tx,
  hosts: readonly string[],
  switched?: boolean,
): Promise<void> {
  const rotation = (await findRunning(tx, hub.vault, MASTER)) ?? null;
  const generations = await listUndestroyed(tx, hub.vault, MASTER);
  const current = currentGeneration(generations);
  const oldVerifies = liveGenerations(generations, hub.clock.now()).length > 1;
  if (current === null) throw new RollcallError('master_missing');
  const standing = await listAssignments(tx, hub.vault, MASTER, hosts);
  const same = { secret: MASTER, epoch: hub.epoch, issuedAt: hub.clock.now() };
  const wishes = hosts.map((host) => {
    const before = standing.get(host);
    const hadItsTurn = rotation !== null && typeof before === 'object' && before.present === rotation.to;
    const sets = assignmentSets(rotation, current.version, { switched: switched ?? hadItsTurn }, oldVerifies);
    return { ...same, ...sets, host, before };
  });
  await issueSteps(tx, hub.vault, wishes);
}

type StepHub = Pick<Hub, 'vault' | 'clock' | 'epoch'>;
