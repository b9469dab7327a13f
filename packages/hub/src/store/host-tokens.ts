/** Tokens of single hosts: of each its keyed digest, never its value (design 3, rung `host-token`). */
import type { Vault } from '../kek/vault.ts';
import type { HostTokensTable } from './rung-tables.ts';
import type { Db, Tx } from './schema.ts';
import { openRow, type Readable, readOrUnreadable, sealRow } from './trust-row.ts';

export interface HostTokenRecord {
  /** Names it among those of its host; says nothing about its value. */
  readonly id: string;
  readonly host: string;
  /** Of the host when it was issued: in another one it is dead. */
  readonly life: number;
  /** Keyed: a stolen database cannot be searched for a token. */
  readonly digest: Uint8Array;
  readonly issuedAtMs: number;
  readonly seenAtMs: number | null;
  /** `false`: it was ended, and is kept since it was seen: the host had a credential of its own in this life. */
  readonly isLive: boolean;
}

export interface StoredHostToken {
  readonly host: string;
  /** As it stands in the row, which may not be one of this hub. */
  readonly digest: Uint8Array;
  readonly token: Readable<HostTokenRecord>;
}

/** Of one host, the oldest first. */
export async function findHostTokens(db: Db, vault: Vault, host: string): Promise<StoredHostToken[]> {
  const rows = await db
    .selectFrom('host_tokens')
    .selectAll()
    .where('host', '=', host)
    .orderBy('issued_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => open(vault, row));
}

/** Of every host that has any. */
export async function listHostTokens(db: Db, vault: Vault): Promise<ReadonlyMap<string, readonly StoredHostToken[]>> {
  const rows = await db.selectFrom('host_tokens').selectAll().orderBy('issued_at').orderBy('id').execute();
  const byHost = new Map<string, StoredHostToken[]>();
  for (const row of rows) {
    const stored = open(vault, row);
    const before = byHost.get(row.host);
    if (before === undefined) byHost.set(row.host, [stored]);
    else before.push(stored);
  }
  return byHost;
}

export async function writeHostToken(tx: Tx, vault: Vault, token: HostTokenRecord): Promise<void> {
  const row = sealRow<HostTokensTable>(vault, 'host_tokens', {
    id: token.id,
    host: token.host,
    life: token.life,
    digest: token.digest,
    issued_at: token.issuedAtMs,
    seen_at: token.seenAtMs,
    live: token.isLive ? 1 : 0,
  });
  await tx
    .insertInto('host_tokens')
    .values(row)
    .onConflict((c) => c.columns(['host', 'id']).doUpdateSet(row))
    .execute();
}

export async function deleteHostToken(tx: Tx, host: string, id: string): Promise<void> {
  await tx.deleteFrom('host_tokens').where('host', '=', host).where('id', '=', id).execute();
}

/** Of a host, whatever can be read of them. */
export async function deleteHostTokens(tx: Tx, host: string): Promise<void> {
  await tx.deleteFrom('host_tokens').where('host', '=', host).execute();
}

function open(vault: Vault, stored: HostTokensTable): StoredHostToken {
  const digest = stored.digest instanceof Uint8Array ? stored.digest : new Uint8Array();
  const token = readOrUnreadable(() => {
    const row = openRow<HostTokensTable>(vault, 'host_tokens', stored);
    return {
      id: row.id,
      host: row.host,
      life: row.life,
      digest: row.digest,
      issuedAtMs: row.issued_at,
      seenAtMs: row.seen_at,
      isLive: row.live === 1,
    };
  });
  return { host: stored.host, digest, token };
}
