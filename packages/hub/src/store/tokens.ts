/** Shared tokens: what each is, its versions with their values encrypted, and who holds it (design 3, 5). */
import { SecretBytes } from '@rollcall/core/keys';
import type { Vault } from '../kek/vault.ts';
import type { Db, TokenHoldersTable, TokensTable, TokenVersionsTable, Tx } from './schema.ts';
import { openRow, sealRow } from './trust-row.ts';

export interface TokenRecord {
  readonly name: string;
  /** The version in force while no rotation runs: what the last one ended with. */
  readonly currentVersion: number;
  /** Shorter than a token should be: it can be guessed, and readiness says so. */
  readonly weak: boolean;
  readonly createdAtMs: number;
}

export interface TokenVersionRecord {
  readonly secret: string;
  readonly version: number;
  /** `undefined` once destroyed; its digest stays, so that it can be told from a stranger's value. */
  readonly value: SecretBytes<'token'> | undefined;
  /** Keyed: a stolen database cannot be searched for a token (design 3). */
  readonly digest: Uint8Array;
  readonly createdAtMs: number;
}

/** In the place of a host: every host of the roll, also those to come. */
export const EVERY_MEMBER = '*';

const place = (secret: string, version: number) => ({
  table: 'token_versions',
  row: `${secret}/${version}`,
  column: 'value',
});

export async function findToken(db: Db, vault: Vault, name: string): Promise<TokenRecord | undefined> {
  const row = await db.selectFrom('tokens').selectAll().where('name', '=', name).executeTakeFirst();
  return row === undefined ? undefined : decodeToken(vault, row);
}

/** Unverified, so that one row which cannot be read is known by its name and keeps nobody from the others. */
export async function listTokenNames(db: Db): Promise<string[]> {
  return (await db.selectFrom('tokens').select('name').orderBy('name').execute()).map(({ name }) => name);
}

export async function writeToken(tx: Tx, vault: Vault, token: TokenRecord): Promise<void> {
  const row = sealRow<TokensTable>(vault, 'tokens', {
    name: token.name,
    current_version: token.currentVersion,
    weak: token.weak ? 1 : 0,
    created_at: token.createdAtMs,
  });
  await tx
    .insertInto('tokens')
    .values(row)
    .onConflict((c) => c.column('name').doUpdateSet(row))
    .execute();
}

/** All versions, oldest first. */
export async function listTokenVersions(db: Db, vault: Vault, secret: string): Promise<TokenVersionRecord[]> {
  const rows = await db
    .selectFrom('token_versions')
    .selectAll()
    .where('secret', '=', secret)
    .orderBy('version')
    .execute();
  return rows.map((stored) => {
    const row = openRow<TokenVersionsTable>(vault, 'token_versions', stored);
    const sealed = row.value_ciphertext;
    return {
      secret: row.secret,
      version: row.version,
      value:
        sealed === null ? undefined : new SecretBytes('token', vault.decrypt(place(row.secret, row.version), sealed)),
      digest: row.digest,
      createdAtMs: row.created_at,
    };
  });
}

/** The name of the secret that has, or had, a value with this digest; `undefined`: none. */
export async function findDigest(db: Db, digest: Uint8Array): Promise<string | undefined> {
  const row = await db.selectFrom('token_versions').select('secret').where('digest', '=', digest).executeTakeFirst();
  return row?.secret;
}

export async function writeTokenVersion(tx: Tx, vault: Vault, version: TokenVersionRecord): Promise<void> {
  const { secret, value } = version;
  const row = sealRow<TokenVersionsTable>(vault, 'token_versions', {
    secret,
    version: version.version,
    value_ciphertext: value === undefined ? null : vault.encrypt(place(secret, version.version), value.reveal()),
    digest: version.digest,
    created_at: version.createdAtMs,
  });
  await tx
    .insertInto('token_versions')
    .values(row)
    .onConflict((c) => c.columns(['secret', 'version']).doUpdateSet(row))
    .execute();
}

/** Host ids, `caller:NAME`, or `EVERY_MEMBER`; sorted. */
export async function listHolders(db: Db, vault: Vault, secret: string): Promise<string[]> {
  const rows = await db
    .selectFrom('token_holders')
    .selectAll()
    .where('secret', '=', secret)
    .orderBy('member')
    .execute();
  return rows.map((row) => openRow<TokenHoldersTable>(vault, 'token_holders', row).member);
}

/** The names of the tokens that a host holds. */
export async function listHeldTokens(db: Db, vault: Vault, host: string): Promise<string[]> {
  const rows = await db
    .selectFrom('token_holders')
    .selectAll()
    .where('member', 'in', [host, EVERY_MEMBER])
    .orderBy('secret')
    .execute();
  return [...new Set(rows.map((row) => openRow<TokenHoldersTable>(vault, 'token_holders', row).secret))];
}

export async function addHolder(tx: Tx, vault: Vault, secret: string, member: string): Promise<void> {
  await tx
    .insertInto('token_holders')
    .values(sealRow<TokenHoldersTable>(vault, 'token_holders', { secret, member }))
    .onConflict((c) => c.columns(['secret', 'member']).doNothing())
    .execute();
}

/** Whether it was one. */
export async function removeHolder(tx: Tx, secret: string, member: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('token_holders')
    .where('secret', '=', secret)
    .where('member', '=', member)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

function decodeToken(vault: Vault, stored: TokensTable): TokenRecord {
  const row = openRow<TokensTable>(vault, 'tokens', stored);
  return {
    name: row.name,
    currentVersion: row.current_version,
    weak: row.weak === 1,
    createdAtMs: row.created_at,
  };
}
