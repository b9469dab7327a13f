/** Certificates that hosts were issued: which life each is of, and what it was proven with (design 6). */
import type { Vault } from '../kek/vault.ts';
import type { CertificatesTable, Db, Tx } from './schema.ts';
import { openRow, sealRow } from './trust-row.ts';

export type CertificateRecord = Omit<CertificatesTable, 'mac'>;

export async function insertCertificate(tx: Tx, vault: Vault, certificate: CertificateRecord): Promise<void> {
  await tx
    .insertInto('certificates')
    .values(sealRow<CertificatesTable>(vault, 'certificates', certificate))
    .execute();
}

/** Throws `store_unreadable`. */
export async function findCertificate(db: Db, vault: Vault, serial: string): Promise<CertificateRecord | undefined> {
  const row = await db.selectFrom('certificates').selectAll().where('serial', '=', serial).executeTakeFirst();
  return row === undefined ? undefined : openRow<CertificatesTable>(vault, 'certificates', row);
}

/** The newest one of this host and life over this key. Throws `store_unreadable`. */
export async function findCertificateOfKey(
  db: Db,
  vault: Vault,
  wanted: Pick<CertificateRecord, 'host' | 'life' | 'use' | 'key_sha256'>,
): Promise<CertificateRecord | undefined> {
  const { host, life, use, key_sha256 } = wanted;
  const row = await db
    .selectFrom('certificates')
    .selectAll()
    .where('host', '=', host)
    .where('life', '=', life)
    .where('use', '=', use)
    .where('key_sha256', '=', key_sha256)
    .orderBy('issued_at', 'desc')
    .executeTakeFirst();
  return row === undefined ? undefined : openRow<CertificatesTable>(vault, 'certificates', row);
}

/** Those of a host that ended before `ms`: what was issued stays in the audit. */
export async function deleteEndedCertificates(tx: Tx, host: string, ms: number): Promise<void> {
  await tx.deleteFrom('certificates').where('host', '=', host).where('not_after', '<', ms).execute();
}

export async function deleteCertificates(tx: Tx, host: string): Promise<void> {
  await tx.deleteFrom('certificates').where('host', '=', host).execute();
}
