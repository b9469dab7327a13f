/** Generations of the master: encrypted values, one `current`, at most one `previous` (I14). */
import { type MasterScheme, SecretBytes } from '@rollcall/core/keys';
import type { Vault } from '../kek/vault.ts';
import type { Db, GenerationsTable, Tx } from './schema.ts';
import { openRow, sealRow } from './trust-row.ts';

export interface GenerationRecord {
  readonly secret: string;
  readonly version: number;
  readonly scheme: MasterScheme;
  readonly state: GenerationsTable['state'];
  /** `undefined` once destroyed. */
  readonly value: SecretBytes<'master'> | undefined;
  readonly createdAtMs: number;
  readonly verifyUntilMs: number | null;
  readonly leaked: boolean;
}

const place = (secret: string, version: number) => ({
  table: 'generations',
  row: `${secret}/${version}`,
  column: 'value',
});

/** All generations, oldest first. Throws `store_unreadable` when one of them cannot be trusted. */
export async function listGenerations(db: Db, vault: Vault, secret: string): Promise<GenerationRecord[]> {
  const rows = await db.selectFrom('generations').selectAll().where('secret', '=', secret).orderBy('version').execute();
  return rows.map((stored) => {
    const row = openRow<GenerationsTable>(vault, 'generations', stored);
    return {
      secret: row.secret,
      version: row.version,
      scheme: JSON.parse(row.scheme) as MasterScheme,
      state: row.state,
      value:
        row.value_ciphertext === null
          ? undefined
          : new SecretBytes('master', vault.decrypt(place(row.secret, row.version), row.value_ciphertext)),
      createdAtMs: row.created_at,
      verifyUntilMs: row.verify_until,
      leaked: row.leaked === 1,
    };
  });
}

/** A generation whose value is still there. */
export type LiveRecord = GenerationRecord & { readonly state: 'current' | 'previous' };

export async function listUndestroyed(db: Db, vault: Vault, secret: string): Promise<LiveRecord[]> {
  return (await listGenerations(db, vault, secret)).filter(
    (generation) => generation.state !== 'destroyed',
  ) as LiveRecord[];
}

export async function insertGeneration(tx: Tx, vault: Vault, generation: GenerationRecord): Promise<void> {
  await tx.insertInto('generations').values(encode(vault, generation)).execute();
}

export async function updateGeneration(tx: Tx, vault: Vault, generation: GenerationRecord): Promise<void> {
  await tx
    .updateTable('generations')
    .set(encode(vault, generation))
    .where('secret', '=', generation.secret)
    .where('version', '=', generation.version)
    .executeTakeFirstOrThrow();
}

function encode(vault: Vault, generation: GenerationRecord): GenerationsTable {
  const { secret, version } = generation;
  return sealRow<GenerationsTable>(vault, 'generations', {
    secret,
    version,
    scheme: JSON.stringify(generation.scheme),
    state: generation.state,
    value_ciphertext:
      generation.value === undefined ? null : vault.encrypt(place(secret, version), generation.value.reveal()),
    created_at: generation.createdAtMs,
    verify_until: generation.verifyUntilMs,
    leaked: generation.leaked ? 1 : 0,
  });
}
