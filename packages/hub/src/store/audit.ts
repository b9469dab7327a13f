/** Audit records, written in the transaction of the change that they record (design 8). */
import { RollcallError } from '@rollcall/core/errors';
import { parseJson, readObject } from '@rollcall/core/json';
import type { AuditRecord } from '@rollcall/wire';
import { inBatches } from './batches.ts';
import type { AuditTable, Db, Tx } from './schema.ts';

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

export function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  return appendAudits(tx, [entry]);
}

/** In their order. */
export async function appendAudits(tx: Tx, entries: readonly AuditEntry[]): Promise<void> {
  const last = await tx.selectFrom('audit').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  const first = (last?.seq ?? 0) + 1;
  for (const batch of inBatches(entries.map((entry, at) => toRow(entry, first + at)))) {
    await tx.insertInto('audit').values(batch).execute();
  }
}

function toRow(entry: AuditEntry, seq: number): AuditTable {
  return {
    seq,
    at: entry.at,
    actor_id: entry.actor.id,
    actor_kind: entry.actor.kind,
    actor_rung: entry.actor.rung,
    actor_verified: entry.actor.verified ? 1 : 0,
    action: entry.action,
    target: entry.target,
    outcome: entry.outcome,
    details: JSON.stringify(entry.details ?? {}),
  };
}

/** What to list; a record that fits every part is listed. */
export interface AuditFilter {
  readonly actor?: string | undefined;
  /** An action, or its first word: `pin` is every action on pins. */
  readonly action?: string | undefined;
  /** What it was done to; of a secret or a rung also what was done to its rotations, whose target is their id. */
  readonly target?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly outcome?: string | undefined;
}

/** Filtered where the records are, so that a page is full and the cursor goes on from what was listed. */
export async function listAudit(
  db: Db,
  after: number,
  limit: number,
  filter: AuditFilter = {},
): Promise<AuditRecord[]> {
  const { actor, action, target, sinceMs, outcome } = filter;
  let query = db.selectFrom('audit').selectAll().where('seq', '>', after);
  if (actor !== undefined) query = query.where('actor_id', '=', actor);
  if (target !== undefined) {
    query = query.where((e) => {
      const rotations = e.selectFrom('rotations').select('id').where('secret', '=', target);
      return e.or([e('target', '=', target), e('target', 'in', rotations)]);
    });
  }
  if (outcome !== undefined) query = query.where('outcome', '=', outcome);
  if (sinceMs !== undefined) query = query.where('at', '>=', sinceMs);
  if (action !== undefined) {
    // No LIKE: an underscore would stand for any character. `/` is what follows `.` in ASCII.
    query = query.where((e) =>
      e.or([e('action', '=', action), e.and([e('action', '>=', `${action}.`), e('action', '<', `${action}/`)])]),
    );
  }
  const rows = await query.orderBy('seq').limit(limit).execute();
  return rows.map((row) => ({
    seq: row.seq,
    at: new Date(row.at).toISOString(),
    actor: { id: row.actor_id, kind: row.actor_kind, rung: row.actor_rung, verified: row.actor_verified === 1 },
    action: row.action,
    target: row.target,
    outcome: row.outcome,
    details: readDetails(row),
  }));
}

/** The one table without a MAC: what stands there may be anything. */
function readDetails({ seq, details }: { readonly seq: number; readonly details: string }): Record<string, unknown> {
  try {
    return { ...readObject(parseJson(details), 'details') };
  } catch (cause) {
    throw new RollcallError('store_unreadable', { table: 'audit', row: String(seq) }, { cause });
  }
}
