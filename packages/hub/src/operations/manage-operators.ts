/** Operators over TCP: added, given another token, removed; a token is shown once, and kept as a keyed digest (design 8). */
import { RollcallError } from '@rollcall/core/errors';
import { encodeToken, parseSecretName } from '@rollcall/core/keys';
import type { OperatorRole, OperatorRow, OperatorToken } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import { deleteOperator, findOperator, type OperatorRecord, writeOperator } from '../store/operators.ts';
import type { Tx } from '../store/schema.ts';
import { toTime } from '../views/hosts.ts';

export async function addOperator(hub: Hub, name: string, role: OperatorRole, actor: Actor): Promise<OperatorToken> {
  return hub.db.transaction().execute(async (tx) => {
    if ((await findOperator(tx, hub.vault, name)) !== undefined) throw new RollcallError('operator_exists', { name });
    return giveToken(hub, tx, { name, role, added_at: hub.clock.now() }, 'operator.added', actor);
  });
}

/** The former token ends at once. */
export async function rotateOperatorToken(hub: Hub, name: string, actor: Actor): Promise<OperatorToken> {
  return hub.db.transaction().execute(async (tx) => {
    const operator = await readOperator(hub, tx, name);
    return giveToken(hub, tx, operator, 'operator.token_rotated', actor);
  });
}

export async function removeOperator(hub: Hub, name: string, actor: Actor): Promise<OperatorRow> {
  return hub.db.transaction().execute(async (tx) => {
    const operator = await readOperator(hub, tx, name);
    await deleteOperator(tx, name);
    await record(hub, tx, 'operator.removed', operator, actor);
    return toOperatorRow(operator);
  });
}

export function toOperatorRow({ name, role, added_at }: Omit<OperatorRecord, 'token_digest'>): OperatorRow {
  return { name, role, addedAt: toTime(added_at) };
}

async function readOperator(hub: Hub, tx: Tx, name: string): Promise<OperatorRecord> {
  const operator = await findOperator(tx, hub.vault, parseSecretName(name));
  if (operator === undefined) throw new RollcallError('operator_unknown', { name });
  return operator;
}

async function giveToken(
  hub: Hub,
  tx: Tx,
  operator: Omit<OperatorRecord, 'token_digest'>,
  action: string,
  actor: Actor,
): Promise<OperatorToken> {
  const value = hub.random(32);
  const { name, role, added_at } = operator;
  await writeOperator(tx, hub.vault, { name, role, added_at, token_digest: hub.vault.digest(value) });
  await record(hub, tx, action, operator, actor);
  return { name, role, token: encodeToken('rco', value) };
}

async function record(
  hub: Hub,
  tx: Tx,
  action: string,
  { name, role }: Pick<OperatorRecord, 'name' | 'role'>,
  actor: Actor,
): Promise<void> {
  await appendAudit(tx, { at: hub.clock.now(), actor, action, target: name, outcome: 'done', details: { role } });
}
