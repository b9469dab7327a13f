/** What each host is to do with each secret, and what it has proven of that (design 4). */
import type { Vault } from '../kek/vault.ts';
import { inBatches, upsertRows } from './batches.ts';
import type { AssignmentsTable, Db, Tx } from './schema.ts';
import { numberAbove, openRow, type Readable, readOrUnreadable, sealRow } from './trust-row.ts';

export interface AssignmentRecord {
  readonly host: string;
  readonly secret: string;
  readonly epoch: number;
  readonly step: number;
  readonly accept: readonly number[];
  readonly present: number;
  /** What this step drops, at most one; none but while a rotation waits for proof of that. */
  readonly refuse: readonly number[];
  readonly issuedAt: number;
  readonly ackedStep: number;
  readonly ackedAt: number | null;
}

/** Throws `store_unreadable` for a row that this hub did not write: it would lead the host to another generation. */
export async function findAssignment(
  db: Db,
  vault: Vault,
  host: string,
  secret: string,
): Promise<AssignmentRecord | undefined> {
  const row = await db
    .selectFrom('assignments')
    .selectAll()
    .where('host', '=', host)
    .where('secret', '=', secret)
    .executeTakeFirst();
  return row === undefined ? undefined : decode(vault, row);
}

/** Of every secret that the host has one of, by name. Throws `store_unreadable`. */
export async function findAssignments(db: Db, vault: Vault, host: string): Promise<AssignmentRecord[]> {
  const rows = await rowsOf(db, host);
  return rows.map((row) => decode(vault, row));
}

/** The same, where one that cannot be read is no reason to show none. */
export async function findReadableAssignments(db: Db, vault: Vault, host: string): Promise<AssignmentRecord[]> {
  const rows = (await rowsOf(db, host)).map((row) => readOrUnreadable(() => decode(vault, row)));
  return rows.filter((row) => row !== 'unreadable');
}

function rowsOf(db: Db, host: string): Promise<AssignmentsTable[]> {
  return db.selectFrom('assignments').selectAll().where('host', '=', host).orderBy('secret').execute();
}

/** Those of every host, or of these; one that cannot be read is `unreadable`. */
export async function listAssignments(
  db: Db,
  vault: Vault,
  secret: string,
  hosts?: readonly string[],
): Promise<Map<string, Readable<AssignmentRecord>>> {
  const all = db.selectFrom('assignments').selectAll().where('secret', '=', secret);
  const parts = hosts === undefined ? [all] : inBatches(hosts).map((batch) => all.where('host', 'in', batch));
  const rows: AssignmentsTable[] = [];
  for (const part of parts) rows.push(...(await part.execute()));
  return new Map(rows.map((row) => [row.host, readOrUnreadable(() => decode(vault, row))]));
}

/** A new step for one host, with what stood before it as it was read in the same transaction. */
export interface StepWish
  extends Pick<AssignmentRecord, 'host' | 'secret' | 'epoch' | 'accept' | 'present' | 'issuedAt'> {
  readonly refuse?: readonly number[];
  readonly before: Readable<AssignmentRecord> | undefined;
}

/**
 * Gives each host a new step, above every step that it ever had of this secret (steps outlive removal, design 11): so a
 * rollback is a new step, and a recorded envelope never applies.
 */
export async function issueSteps(tx: Tx, vault: Vault, wishes: readonly StepWish[]): Promise<void> {
  await write(
    tx,
    vault,
    wishes.map(({ before, ...wished }) => {
      const wish = { ...wished, refuse: wished.refuse ?? [] };
      if (before === 'unreadable') return { ...wish, step: numberAbove(wish.issuedAt), ackedStep: 0, ackedAt: null };
      const { step = 0, ackedStep = 0, ackedAt = null } = before ?? {};
      return { ...wish, step: step + 1, ackedStep, ackedAt };
    }),
  );
}

/** Notes that the authenticated host proved this step. A step that is no longer wanted is no proof of anything. */
export async function ackStep(
  tx: Tx,
  vault: Vault,
  ack: { readonly host: string; readonly secret: string; readonly step: number; readonly at: number },
): Promise<boolean> {
  const assignment = await findAssignment(tx, vault, ack.host, ack.secret);
  if (assignment?.step !== ack.step) return false;
  await write(tx, vault, [{ ...assignment, ackedStep: ack.step, ackedAt: ack.at }]);
  return true;
}

/** Rows of before there was the column have a MAC without it. One that says nothing there is sealed, and opened, as those are. */
type AssignmentsBefore = Omit<AssignmentsTable, 'refuse'>;

async function write(tx: Tx, vault: Vault, assignments: readonly AssignmentRecord[]): Promise<void> {
  const rows = assignments.map((assignment) => encode(vault, assignment));
  await upsertRows(tx, 'assignments', ['host', 'secret'], rows);
}

function encode(vault: Vault, assignment: AssignmentRecord): AssignmentsTable {
  const row = {
    host: assignment.host,
    secret: assignment.secret,
    epoch: assignment.epoch,
    step: assignment.step,
    accept: JSON.stringify(assignment.accept),
    present: assignment.present,
    issued_at: assignment.issuedAt,
    acked_step: assignment.ackedStep,
    acked_at: assignment.ackedAt,
  };
  if (assignment.refuse.length === 0) {
    return { ...sealRow<AssignmentsBefore>(vault, 'assignments', row), refuse: null };
  }
  return sealRow<AssignmentsTable>(vault, 'assignments', { ...row, refuse: JSON.stringify(assignment.refuse) });
}

function decode(vault: Vault, stored: AssignmentsTable): AssignmentRecord {
  const { refuse, ...before } = stored;
  const row =
    refuse === null
      ? openRow<AssignmentsBefore>(vault, 'assignments', before)
      : openRow<AssignmentsTable>(vault, 'assignments', stored);
  return {
    host: row.host,
    secret: row.secret,
    epoch: row.epoch,
    step: row.step,
    accept: JSON.parse(row.accept) as number[],
    present: row.present,
    refuse: refuse === null ? [] : (JSON.parse(refuse) as number[]),
    issuedAt: row.issued_at,
    ackedStep: row.acked_step,
    ackedAt: row.acked_at,
  };
}
