/** New steps of hosts' assignments of a shared token: what the phase that its rotation stands in says (design 4, 5). */
import { RollcallError } from '@rollcall/core/errors';
import { type AssignmentSets, assignmentSets, oldTokenVerifies } from '@rollcall/core/rotation';
import { isDrop, NOTHING } from '@rollcall/core/seal';
import type { Hub } from '../../hub.ts';
import { issueSteps, listAssignments } from '../../store/assignments.ts';
import { findRunning } from '../../store/rotations.ts';
import type { Tx } from '../../store/schema.ts';
import { EVERY_MEMBER, findToken, listHeldTokens, listHolders } from '../../store/tokens.ts';

type StepHub = Pick<Hub, 'vault' | 'clock' | 'epoch'>;

/**
 * One for each host whose sets are others than before. `switches`: those whose turn has come; whoever had its turn keeps it.
 * `afresh`: also where nothing changes, for a host that begins anew and may hold nothing.
 */
export async function issueTokenSteps(
  hub: StepHub,
  tx: Tx,
  secret: string,
  hosts: readonly string[],
  { switches = [], afresh = false }: { readonly switches?: readonly string[]; readonly afresh?: boolean } = {},
): Promise<void> {
  const token = await findToken(tx, hub.vault, secret);
  if (token === undefined) throw new RollcallError('secret_unknown', { secret });
  const rotation = (await findRunning(tx, hub.vault, secret)) ?? null;
  const now = hub.clock.now();
  const oldVerifies = rotation === null || oldTokenVerifies(rotation, now);
  const standing = await listAssignments(tx, hub.vault, secret, hosts);
  const wishes = hosts.flatMap((host) => {
    const before = standing.get(host);
    const hadItsTurn = rotation !== null && typeof before === 'object' && before.present === rotation.to;
    const switched = hadItsTurn || switches.includes(host);
    const sets = assignmentSets(rotation, token.currentVersion, { switched }, oldVerifies);
    if (!afresh && typeof before === 'object' && isSame(before, sets)) return [];
    return [{ host, secret, epoch: hub.epoch, issuedAt: now, ...sets, before }];
  });
  if (wishes.length > 0) await issueSteps(tx, hub.vault, wishes);
}

/**
 * Takes the token from those of these hosts, or of all, that were given it and hold it no more: by a step that accepts nothing, since
 * what is only left out stays as it was. A row that cannot be read may be what its host goes by.
 */
export async function dropUnheld(hub: StepHub, tx: Tx, secret: string, hosts?: readonly string[]): Promise<void> {
  const holders = new Set(await listHolders(tx, hub.vault, secret));
  if (holders.has(EVERY_MEMBER)) return;
  const standing = await listAssignments(tx, hub.vault, secret, hosts);
  const issuedAt = hub.clock.now();
  const wishes = [...standing].flatMap(([host, before]) => {
    if (holders.has(host) || (typeof before === 'object' && isDrop(before))) return [];
    return [{ host, secret, epoch: hub.epoch, accept: [], present: NOTHING, issuedAt, before }];
  });
  if (wishes.length > 0) await issueSteps(tx, hub.vault, wishes);
}

/** Every token that the host holds, afresh: it begins anew, or comes back. */
export async function issueHeldTokens(hub: StepHub, tx: Tx, host: string): Promise<void> {
  for (const secret of await listHeldTokens(tx, hub.vault, host)) {
    await issueTokenSteps(hub, tx, secret, [host], { afresh: true });
  }
}

function isSame(a: AssignmentSets, b: AssignmentSets): boolean {
  const isSameRefusal = (a.refuse ?? []).join() === (b.refuse ?? []).join();
  return a.present === b.present && a.accept.join() === b.accept.join() && isSameRefusal;
}
