/** Audit records, written in the transaction of the change that they record (design 8). */
import type { AuditRecord } from '@rollcall/wire';
import type { Db, Tx } from './schema.ts';

export interface Actor {
  readonly id: string;
  readonly kind: 'host' | 'operator' | 'hub';
  readonly rung: string;
  /** Whether the hub has proof of `id`; else it is what the actor said. */
  readonly verified: boolean;
}

/** The hub acting by itself; its records carry their reason in `details`. */
export const hubActor: Actor = { id: 'hub', kind: 'hub', rung: 'process', verified: true };

export interface AuditEntry {
  readonly at: number;
  readonly actor: Actor;
  readonly action: string;
  readonly target: string;
  readonly outcome: 'done' | 'refused';
  /** Never a secret, never a token, hashed or not (I12). */
  readonly details?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
}

export async function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const last = await tx.selectFrom('audit').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  await tx
    .insertInto('audit')
    .values({
      seq: (last?.seq ?? 0) + 1,
      at: entry.at,
      actor_id: entry.actor.id,
      actor_kind: entry.actor.kind,
      actor_rung: entry.actor.rung,
      actor_verified: entry.actor.verified ? 1 : 0,
      action: entry.action,
      target: entry.target,
      outcome: entry.outcome,
      details: JSON.stringify(entry.details ?? {}),
    })
    .execute();
}

export async function listAudit(db: Db, after: number, limit: number): Promise<AuditRecord[]> {
  const rows = await db.selectFrom('audit').selectAll().where('seq', '>', after).orderBy('seq').limit(limit).execute();
  return rows.map((row) => ({
    seq: row.seq,
    at: new Date(row.at).toISOString(),
    actor: { id: row.actor_id, kind: row.actor_kind, rung: row.actor_rung, verified: row.actor_verified === 1 },
    action: row.action,
    target: row.target,
    outcome: row.outcome,
    details: JSON.parse(row.details) as Record<string, unknown>,
  }));
}
