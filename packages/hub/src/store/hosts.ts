/** The roll: every host that was added, whatever its state. Removed hosts stay as rows, since their life counts on. */
import { RollcallError } from '@rollcall/core/errors';
import { sql } from 'kysely';
import type { Vault } from '../kek/vault.ts';
import { inBatches, upsertRows } from './batches.ts';
import type { Db, HostsTable, Tx } from './schema.ts';
import { openNoRow, openRow, type Readable, readOrUnreadable, sealRow } from './trust-row.ts';

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

/**
 * The same for whoever claims to be it and has proven nothing: the query gives one row in any case, and one of nobody is opened
 * where there is none, so that the time of a refusal does not tell who was ever on the roll (I13).
 */
export async function findClaimedHost(db: Db, vault: Vault, id: string): Promise<HostRecord | undefined> {
  const { rows } = await sql<HostsTable | Nulls<HostsTable>>`
    select hosts.* from (select 1) left join hosts on hosts.id = ${id}`.execute(db);
  const [row] = rows;
  if (row !== undefined && row.id !== null) return openRow<HostsTable>(vault, 'hosts', row);
  openNoRow<HostsTable>(vault, 'hosts', { ...nobody, id, folded: id.toLowerCase() });
  return undefined;
}

/** What a left join gives for a row that is not there. */
export type Nulls<Row> = { readonly [Column in keyof Row]: null };

/** As a host that was just added is. */
const nobody: HostRecord = {
  id: '',
  folded: '',
  status: 'invited',
  reach: 'pull',
  address: null,
  life: 1,
  former_life_until: null,
  banned: 0,
  approved_fingerprint: null,
  first_use_fingerprint: null,
  first_use_until: null,
  proven_version: null,
  added_at: 1_700_000_000_000,
  knows_master: null,
};

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
    const host = open(vault, row);
    return host === 'unreadable' ? { id: row.id, status: host } : host;
  });
  // Not asked of the database: a status that was not verified takes nobody off the roll.
  return hosts.filter(({ status }) => status !== 'removed');
}

/** Rows that stand in the way of these ids, or once did: by the id, and by the form in which ids are unique on the roll. */
export async function listNamesakes(
  db: Db,
  vault: Vault,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly host: Readable<HostRecord> }[]> {
  const found: HostsTable[] = [];
  for (const batch of inBatches(ids)) {
    const folded = batch.map((id) => id.toLowerCase());
    const query = db.selectFrom('hosts').selectAll();
    found.push(...(await query.where((e) => e.or([e('id', 'in', batch), e('folded', 'in', folded)])).execute()));
  }
  return found.map((row) => ({ id: row.id, host: open(vault, row) }));
}

function open(vault: Vault, row: HostsTable): Readable<HostRecord> {
  return readOrUnreadable(() => openRow<HostsTable>(vault, 'hosts', row));
}

/** Puts each host in the place of the row with its id, if there is one. What it replaces was read in the same transaction. */
export async function putHosts(tx: Tx, vault: Vault, hosts: readonly HostRecord[]): Promise<void> {
  const rows = hosts.map((host) => sealRow<HostsTable>(vault, 'hosts', host));
  await upsertRows(tx, 'hosts', ['id'], rows);
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
