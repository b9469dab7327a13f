/** Pins, pending changes of them, and the keys that unpinned hosts were seen with (design 3). */
import type { Vault } from '../kek/vault.ts';
import { upsertRows } from './batches.ts';
import type { Db, ObservedKeysTable, PendingPinsTable, PinsTable, Tx } from './schema.ts';
import { openByHost, openRow, type Readable, readOrUnreadable, sealRow } from './trust-row.ts';

export type PinRecord = Omit<PinsTable, 'mac'>;
export type PendingRecord = Omit<PendingPinsTable, 'mac'>;
export type ObservedRecord = Omit<ObservedKeysTable, 'mac'>;

/** Throws `store_unreadable` for a row that this hub did not write: it is not "no pin" (I10). */
export async function findPin(db: Db, vault: Vault, host: string): Promise<PinRecord | undefined> {
  const row = await db.selectFrom('pins').selectAll().where('host', '=', host).executeTakeFirst();
  return row === undefined ? undefined : openRow<PinsTable>(vault, 'pins', row);
}

/** Every pin by host; one that cannot be read is `unreadable`. */
export async function listPins(db: Db, vault: Vault): Promise<Map<string, Readable<PinRecord>>> {
  const rows = await db.selectFrom('pins').selectAll().execute();
  return new Map(rows.map((row) => [row.host, readOrUnreadable(() => openRow<PinsTable>(vault, 'pins', row))]));
}

/** Puts the pin of a host in force, in place of any other. */
export async function writePin(tx: Tx, vault: Vault, pin: PinRecord): Promise<void> {
  await upsertRows(tx, 'pins', ['host'], [sealRow<PinsTable>(vault, 'pins', pin)]);
}

export async function deletePin(tx: Tx, host: string): Promise<void> {
  await tx.deleteFrom('pins').where('host', '=', host).execute();
}

/**
 * Of one host, oldest first. Throws `store_unreadable`: a row that was written to might hold a thief's key under the
 * fingerprint that an operator types.
 */
export async function findPendings(db: Db, vault: Vault, host: string): Promise<PendingRecord[]> {
  const rows = await db
    .selectFrom('pending_pins')
    .selectAll()
    .where('host', '=', host)
    .orderBy('first_seen_at')
    .execute();
  return rows.map((row) => openRow<PendingPinsTable>(vault, 'pending_pins', row));
}

/** Of every host that has any. */
export async function listPendings(db: Db, vault: Vault): Promise<Map<string, Readable<readonly PendingRecord[]>>> {
  const rows = await db.selectFrom('pending_pins').selectAll().orderBy('host').orderBy('first_seen_at').execute();
  return openByHost<PendingPinsTable>(vault, 'pending_pins', rows);
}

export async function insertPending(tx: Tx, vault: Vault, pending: PendingRecord): Promise<void> {
  await tx
    .insertInto('pending_pins')
    .values(sealRow<PendingPinsTable>(vault, 'pending_pins', pending))
    .execute();
}

export async function deletePendings(tx: Tx, host: string, fingerprint?: string): Promise<void> {
  const query = tx.deleteFrom('pending_pins').where('host', '=', host);
  await (fingerprint === undefined ? query : query.where('fingerprint', '=', fingerprint)).execute();
}

/** Of one host, oldest first. Throws `store_unreadable`: how old a key is decides whether first use takes it. */
export async function findObserved(db: Db, vault: Vault, host: string): Promise<ObservedRecord[]> {
  const rows = await db
    .selectFrom('observed_keys')
    .selectAll()
    .where('host', '=', host)
    .orderBy('first_seen_at')
    .execute();
  return rows.map((row) => openRow<ObservedKeysTable>(vault, 'observed_keys', row));
}

/** Of every host that has any. */
export async function listObserved(db: Db, vault: Vault): Promise<Map<string, Readable<readonly ObservedRecord[]>>> {
  const rows = await db.selectFrom('observed_keys').selectAll().orderBy('host').orderBy('first_seen_at').execute();
  return openByHost<ObservedKeysTable>(vault, 'observed_keys', rows);
}

export async function insertObserved(tx: Tx, vault: Vault, observed: ObservedRecord): Promise<void> {
  await tx
    .insertInto('observed_keys')
    .values(sealRow<ObservedKeysTable>(vault, 'observed_keys', observed))
    .execute();
}

export async function deleteObserved(tx: Tx, host: string): Promise<void> {
  await tx.deleteFrom('observed_keys').where('host', '=', host).execute();
}
