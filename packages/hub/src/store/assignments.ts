/** What each host is to do with each secret, and what it has proven of that (design 4). */
import type { AssignmentsTable, Db, Tx } from './schema.ts';

export interface AssignmentRecord {
  readonly host: string;
  readonly secret: string;
  readonly epoch: number;
  readonly step: number;
  readonly accept: readonly number[];
  readonly present: number;
  readonly issuedAt: number;
  readonly ackedStep: number;
  readonly ackedAt: number | null;
}

export async function findAssignment(db: Db, host: string, secret: string): Promise<AssignmentRecord | undefined> {
  const row = await db
    .selectFrom('assignments')
    .selectAll()
    .where('host', '=', host)
    .where('secret', '=', secret)
    .executeTakeFirst();
  return row === undefined ? undefined : decode(row);
}

export async function listAssignments(db: Db, secret: string): Promise<AssignmentRecord[]> {
  return (await db.selectFrom('assignments').selectAll().where('secret', '=', secret).execute()).map(decode);
}

/**
 * Gives the host a new step, above every step that the host ever had of this secret (steps outlive removal, design 11):
 * so a rollback is a new step, and a recorded envelope never applies.
 */
export async function issueStep(
  tx: Tx,
  wish: Pick<AssignmentRecord, 'host' | 'secret' | 'epoch' | 'accept' | 'present' | 'issuedAt'>,
): Promise<number> {
  const before = await findAssignment(tx, wish.host, wish.secret);
  const step = (before?.step ?? 0) + 1;
  const row: AssignmentsTable = {
    host: wish.host,
    secret: wish.secret,
    epoch: wish.epoch,
    step,
    accept: JSON.stringify(wish.accept),
    present: wish.present,
    issued_at: wish.issuedAt,
    acked_step: before?.ackedStep ?? 0,
    acked_at: before?.ackedAt ?? null,
  };
  await tx
    .insertInto('assignments')
    .values(row)
    .onConflict((c) => c.columns(['host', 'secret']).doUpdateSet(row))
    .execute();
  return step;
}

/** Notes that the authenticated host proved this step. A step that is no longer wanted is no proof of anything. */
export async function ackStep(
  tx: Tx,
  ack: { readonly host: string; readonly secret: string; readonly step: number; readonly at: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('assignments')
    .set({ acked_step: ack.step, acked_at: ack.at })
    .where('host', '=', ack.host)
    .where('secret', '=', ack.secret)
    .where('step', '=', ack.step)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

function decode(row: AssignmentsTable): AssignmentRecord {
  return {
    host: row.host,
    secret: row.secret,
    epoch: row.epoch,
    step: row.step,
    accept: JSON.parse(row.accept) as number[],
    present: row.present,
    issuedAt: row.issued_at,
    ackedStep: row.acked_step,
    ackedAt: row.acked_at,
  };
}
