/** The roll: every host that was added, whatever its state. Removed hosts stay as rows, since their life counts on. */
import { RollcallError } from '@rollcall/core/errors';
import type { Vault } from '../kek/vault.ts';
import type { Db, HostsTable, Tx } from './schema.ts';
import { openRow, readOrUnreadable, sealRow } from './trust-row.ts';

export type HostRecord = Omit<HostsTable, 'mac'>;

/** A host whose row cannot be trusted: on the roll, and nothing else is known of it (I10). */
export interface UnreadableHost {
  readonly id: string;
  readonly status: 'unreadable';
}

export async function findHost(db: Db, vault: Vault, id: string): Promise<HostRecord | undefined> {
  const row = await db.selectFrom('hosts').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : openRow<HostsTable>(vault, 'hosts', row);
}

/** The host, or `host_unknown` when it is not on the roll. */
export async function readHost(db: Db, vault: Vault, id: string): Promise<HostRecord> {
  const host = await findHost(db, vault, id);
  if (host === undefined || host.status === 'removed') throw new RollcallError('host_unknown', { host: id });
  return host;
}

/**
 * The registry query: every row that is on the roll. Every count that decides anything is taken over what this returns,
 * before any filter (I6); a row that cannot be read is returned as that, never left out (I10).
 */
export async function listRoll(db: Db, vault: Vault): Promise<(HostRecord | UnreadableHost)[]> {
  const rows = await db.selectFrom('hosts').selectAll().orderBy('id').execute();
  const hosts = rows.map((row) => {
    const host = readOrUnreadable(() => openRow<HostsTable>(vault, 'hosts', row));
    return host === 'unreadable' ? { id: row.id, status: host } : host;
  });
  // Not asked of the database: a status that was not verified takes nobody off the roll.
  return hosts.filter(({ status }) => status !== 'removed');
}

export async function findFolded(db: Db, folded: string): Promise<{ id: string } | undefined> {
  return db
    .selectFrom('hosts')
    .select('id')
    .where('folded', '=', folded)
    .where('status', '<>', 'removed')
    .executeTakeFirst();
}

export async function insertHost(tx: Tx, vault: Vault, host: HostRecord): Promise<void> {
  await tx
    .insertInto('hosts')
    .values(sealRow<HostsTable>(vault, 'hosts', host))
    .execute();
}

/** Writes the host anew. `host` must come from a read in the same transaction. */
export async function updateHost(tx: Tx, vault: Vault, host: HostRecord): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('hosts')
    .set(sealRow<HostsTable>(vault, 'hosts', host))
    .where('id', '=', host.id)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new RollcallError('host_unknown', { host: host.id });
}
