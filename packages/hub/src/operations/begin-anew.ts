/**
 * What a person's verb makes of rows of one host that this hub did not write: nothing that stands in them is believed, and
 * the host can be begun anew, or ended, all the same. The hub by itself never writes over such a row (I10).
 */
import { RollcallError } from '@rollcall/core/errors';
import type { Hub } from '../hub.ts';
import type { Vault } from '../kek/vault.ts';
import { MASTER } from '../live-generations.ts';
import { findAssignments } from '../store/assignments.ts';
import { findEnrolmentToken } from '../store/enrolment-tokens.ts';
import { listUndestroyed } from '../store/generations.ts';
import { deleteHostTokens, findHostTokens } from '../store/host-tokens.ts';
import { findHost, type HostRecord, putHosts } from '../store/hosts.ts';
import { deleteObserved, deletePendings, deletePin, findObserved, findPendings, findPin } from '../store/pins.ts';
import { findRungPolicy } from '../store/rung-rules.ts';
import type { Db, Tx } from '../store/schema.ts';
import { listTokenNames } from '../store/tokens.ts';
import { numberAbove, orUnreadable } from '../store/trust-row.ts';
import { issueMasterStep } from './issue-master-step.ts';
import { versionKnownByFleet } from './known-master.ts';
import { dropUnheld, issueHeldTokens } from './token/issue-token-steps.ts';

/** As the tables are called. */
export type UnreadableRow =
  | 'hosts'
  | 'pins'
  | 'pending_pins'
  | 'observed_keys'
  | 'assignments'
  | 'enrolment_tokens'
  | 'host_tokens'
  | 'rung_rules';

export interface MendedHost {
  readonly host: HostRecord;
  readonly mended: readonly UnreadableRow[];
}

/** Of which tables the row of this host, or one of them, cannot be read. */
export async function listUnreadableRows({ vault }: Pick<Hub, 'vault'>, db: Db, id: string): Promise<UnreadableRow[]> {
  const reads: readonly (readonly [UnreadableRow, Promise<unknown>])[] = [
    ['hosts', findHost(db, vault, id)],
    ['pins', findPin(db, vault, id)],
    ['pending_pins', findPendings(db, vault, id)],
    ['observed_keys', findObserved(db, vault, id)],
    ['assignments', findAssignments(db, vault, id)],
    ['enrolment_tokens', findEnrolmentToken(db, vault, id)],
    ['host_tokens', readAllTokens(db, vault, id)],
    ['rung_rules', readAllRules(db, vault, id)],
  ];
  const found = await Promise.all(reads.map(async ([table, read]) => ({ table, row: await orUnreadable(read) })));
  return found.filter(({ row }) => row === 'unreadable').map(({ table }) => table);
}

/** Such rows are told one by one where they let somebody in; here whether each can be read is all that is asked. */
async function readAllTokens(db: Db, vault: Vault, id: string): Promise<void> {
  const tokens = await findHostTokens(db, vault, id);
  if (tokens.some(({ token }) => token === 'unreadable')) {
    throw new RollcallError('store_unreadable', { table: 'host_tokens', row: id });
  }
}

async function readAllRules(db: Db, vault: Vault, id: string): Promise<void> {
  if (Object.values(await findRungPolicy(db, vault, id)).includes('unreadable')) {
    throw new RollcallError('store_unreadable', { table: 'rung_rules', row: id });
  }
}

/** The host as its row says, or in the place of one that cannot be read a host of which nothing is known. */
async function readHostOrBlank(hub: Hub, tx: Tx, id: string): Promise<HostRecord> {
  const host = await orUnreadable(findHost(tx, hub.vault, id));
  if (host === 'unreadable') return blankHost(hub, tx, id);
  if (host === undefined || host.status === 'removed') throw new RollcallError('host_unknown', { host: id });
  return host;
}

/**
 * Puts rows that can be read in the place of those that cannot, and takes away what there need be none of. Returns the host,
 * and which tables were mended.
 */
export async function mendRows(hub: Hub, tx: Tx, id: string): Promise<MendedHost> {
  const host = await readHostOrBlank(hub, tx, id);
  const mended = await listUnreadableRows(hub, tx, id);
  const isBlank = mended.includes('hosts');
  if (isBlank) await putHosts(tx, hub.vault, [host]);
  // A pin that can be read was taken for a host that nobody knows any more.
  if (isBlank || mended.includes('pins')) await deletePin(tx, id);
  if (isBlank || mended.includes('pending_pins')) await deletePendings(tx, id);
  if (isBlank || mended.includes('observed_keys')) await deleteObserved(tx, id);
  // What was decided about its rungs is not undone by this: until a person decides anew, those rungs let nobody in.
  if (isBlank || mended.includes('host_tokens')) await deleteHostTokens(tx, id);
  if (mended.includes('assignments')) {
    await issueMasterStep(hub, tx, id);
    await issueHeldTokens(hub, tx, id);
    for (const secret of await listTokenNames(tx)) await dropUnheld(hub, tx, secret, [id]);
  }
  return { host, mended: mended.filter((table) => table !== 'rung_rules') };
}

/** Let in by a new enrolment only, in a life above any it had. Whether it knows the master is not known, so it counts as knowing it. */
async function blankHost(hub: Hub, tx: Tx, id: string): Promise<HostRecord> {
  const now = hub.clock.now();
  return {
    id,
    folded: id.toLowerCase(),
    status: 'invited',
    reach: 'pull',
    address: null,
    life: numberAbove(now),
    former_life_until: null,
    banned: 0,
    approved_fingerprint: null,
    first_use_fingerprint: null,
    first_use_until: null,
    proven_version: null,
    added_at: now,
    knows_master: versionKnownByFleet(await listUndestroyed(tx, hub.vault, MASTER)),
  };
}
