/** Enrolment tokens: what the hub keeps of them is `K`, encrypted (design 3). */
import { sql } from 'kysely';
import type { Vault } from '../kek/vault.ts';
import type { Nulls } from './hosts.ts';
import type { Db, EnrolmentTokensTable, Tx } from './schema.ts';
import { openByHost, openNoRow, openRow, type Readable, sealRow } from './trust-row.ts';

export interface EnrolmentTokenRecord extends Omit<EnrolmentTokensTable, 'mac' | 'key_ciphertext'> {
  /** `K`: the key of the enrolment proof. */
  readonly key: Uint8Array;
}

const place = (id: string) => ({ table: 'enrolment_tokens', row: id, column: 'key' });

export async function insertEnrolmentToken(tx: Tx, vault: Vault, token: EnrolmentTokenRecord): Promise<void> {
  const { key, ...rest } = token;
  const row = { ...rest, key_ciphertext: vault.encrypt(place(token.id), key) };
  await tx
    .insertInto('enrolment_tokens')
    .values(sealRow<EnrolmentTokensTable>(vault, 'enrolment_tokens', row))
    .execute();
}

/**
 * The one token of a host that was not killed: live, used, or expired without use. Whoever asks has proven nothing yet: one row
 * is read and opened in any case, so that the time of a refusal does not tell who waits to be enrolled (I13).
 */
export async function findEnrolmentToken(
  db: Db,
  vault: Vault,
  host: string,
): Promise<EnrolmentTokenRecord | undefined> {
  const { rows } = await sql<EnrolmentTokensTable | Nulls<EnrolmentTokensTable>>`
    select enrolment_tokens.* from (select 1) left join enrolment_tokens
    on enrolment_tokens.host = ${host} and enrolment_tokens.state <> 'dead'`.execute(db);
  const [stored] = rows;
  if (stored !== undefined && stored.id !== null) {
    const { key_ciphertext, ...rest } = openRow<EnrolmentTokensTable>(vault, 'enrolment_tokens', stored);
    return { ...rest, key: vault.decrypt(place(stored.id), key_ciphertext) };
  }
  // Encrypting costs what decrypting does.
  const key_ciphertext = vault.encrypt(place(nobody.id), NO_KEY);
  openNoRow<EnrolmentTokensTable>(vault, 'enrolment_tokens', { ...nobody, host, key_ciphertext });
  return undefined;
}

/** Of every host that has one. Whether it can be read is all that is asked. */
export async function listEnrolmentTokens(
  db: Db,
  vault: Vault,
): Promise<Map<string, Readable<readonly Omit<EnrolmentTokensTable, 'mac'>[]>>> {
  const rows = await db.selectFrom('enrolment_tokens').selectAll().where('state', '<>', 'dead').execute();
  return openByHost<EnrolmentTokensTable>(vault, 'enrolment_tokens', rows);
}

const NO_KEY = new Uint8Array(32);
const nobody = {
  id: '0'.repeat(32),
  expires_at: 1_700_000_000_000,
  state: 'live',
  used_at: null,
  used_by: null,
} as const;

/** Marks a live token as used by this request. */
export async function spendEnrolmentToken(
  tx: Tx,
  vault: Vault,
  id: string,
  use: { readonly at: number; readonly by: Uint8Array },
): Promise<void> {
  const stored = await tx
    .selectFrom('enrolment_tokens')
    .selectAll()
    .where('id', '=', id)
    .where('state', '=', 'live')
    .executeTakeFirstOrThrow();
  const row = openRow<EnrolmentTokensTable>(vault, 'enrolment_tokens', stored);
  await tx
    .updateTable('enrolment_tokens')
    .set(
      sealRow<EnrolmentTokensTable>(vault, 'enrolment_tokens', {
        ...row,
        state: 'used',
        used_at: use.at,
        used_by: use.by,
      }),
    )
    .where('id', '=', id)
    .execute();
}

/**
 * Takes away every token of a host, or of all: used ones and those that cannot be read included, so that none is answered
 * again. Returns whose were live, as their rows said.
 */
export async function killEnrolmentTokens(tx: Tx, host?: string): Promise<string[]> {
  const query = tx.deleteFrom('enrolment_tokens').returning(['host', 'state']);
  const gone = await (host === undefined ? query : query.where('host', '=', host)).execute();
  return gone.filter(({ state }) => state === 'live').map((token) => token.host);
}
