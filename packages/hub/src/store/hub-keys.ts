/** The hub key that signs, and the authority of the fleet's TLS; private halves encrypted (design 3, 6). */
import { RollcallError } from '@rollcall/core/errors';
import { parseJson } from '@rollcall/core/json';
import { SecretBytes } from '@rollcall/core/keys';
import { type HubKey, restoreHubKey } from '@rollcall/core/seal';
import type { Vault } from '../kek/vault.ts';
import type { AuthoritiesTable, Db, HubKeysTable, Tx } from './schema.ts';
import { openRow, sealRow } from './trust-row.ts';

export interface AuthorityRecord {
  readonly id: string;
  /** DER. */
  readonly certificate: Uint8Array;
  /** PKCS #8 DER. */
  readonly key: SecretBytes<'authority'>;
  /** PKCS #8 DER of the fleet listener's key. */
  readonly serverKey: SecretBytes<'server'>;
}

const keyPlace = (kid: string) => ({ table: 'hub_keys', row: kid, column: 'private' });
const authorityPlace = (id: string, column: string) => ({ table: 'authorities', row: id, column });

export async function insertHubKey(tx: Tx, vault: Vault, key: HubKey): Promise<void> {
  const row = {
    kid: key.kid,
    serial: key.serial,
    record: JSON.stringify(key.record),
    private_ciphertext: vault.encrypt(keyPlace(key.kid), key.private.reveal()),
  };
  await tx
    .insertInto('hub_keys')
    .values(sealRow<HubKeysTable>(vault, 'hub_keys', row))
    .execute();
}

/** The hub key with the highest serial. */
export async function readHubKey(db: Db, vault: Vault): Promise<HubKey> {
  const stored = await db.selectFrom('hub_keys').selectAll().orderBy('serial', 'desc').executeTakeFirst();
  if (stored === undefined) throw new RollcallError('store_unreadable', { table: 'hub_keys', row: '' });
  const row = openRow<HubKeysTable>(vault, 'hub_keys', stored);
  return restoreHubKey(vault.decrypt(keyPlace(row.kid), row.private_ciphertext), parseJson(row.record));
}

export async function insertAuthority(tx: Tx, vault: Vault, authority: AuthorityRecord): Promise<void> {
  const row = {
    id: authority.id,
    certificate: authority.certificate,
    key_ciphertext: vault.encrypt(authorityPlace(authority.id, 'key'), authority.key.reveal()),
    server_key_ciphertext: vault.encrypt(authorityPlace(authority.id, 'server_key'), authority.serverKey.reveal()),
  };
  await tx
    .insertInto('authorities')
    .values(sealRow<AuthoritiesTable>(vault, 'authorities', row))
    .execute();
}

export async function readAuthority(db: Db, vault: Vault): Promise<AuthorityRecord> {
  const stored = await db.selectFrom('authorities').selectAll().executeTakeFirst();
  if (stored === undefined) throw new RollcallError('store_unreadable', { table: 'authorities', row: '' });
  const row = openRow<AuthoritiesTable>(vault, 'authorities', stored);
  return {
    id: row.id,
    certificate: row.certificate,
    key: new SecretBytes('authority', vault.decrypt(authorityPlace(row.id, 'key'), row.key_ciphertext)),
    serverKey: new SecretBytes(
      'server',
      vault.decrypt(authorityPlace(row.id, 'server_key'), row.server_key_ciphertext),
    ),
  };
}
