/** What was decided about rungs: for the fleet, and for single hosts (design 3). Where no row is, nobody has decided. */
import { isRung, noPolicy, type Rung, type RungPolicy, type RungRule } from '@rollcall/core/rungs';
import type { Vault } from '../kek/vault.ts';
import type { RungRulesTable } from './rung-tables.ts';
import type { Db, Tx } from './schema.ts';
import { openRow, readOrUnreadable, sealRow } from './trust-row.ts';

/** In the place of a host: every host that nothing else was decided for. */
export const FLEET = '';

/** Of a host, or of the fleet. A row that cannot be read is a decision that nobody knows (I10). */
export async function findRungPolicy(db: Db, vault: Vault, scope: string): Promise<RungPolicy> {
  const rows = await db.selectFrom('rung_rules').selectAll().where('scope', '=', scope).execute();
  return toPolicy(vault, rows);
}

/** Of every host that something was decided for, and of the fleet. */
export async function listRungPolicies(db: Db, vault: Vault): Promise<ReadonlyMap<string, RungPolicy>> {
  const rows = await db.selectFrom('rung_rules').selectAll().orderBy('scope').execute();
  const byScope = new Map<string, RungRulesTable[]>();
  for (const row of rows) byScope.set(row.scope, [...(byScope.get(row.scope) ?? []), row]);
  return new Map([...byScope].map(([scope, ofScope]) => [scope, toPolicy(vault, ofScope)]));
}

export async function writeRungRule(
  tx: Tx,
  vault: Vault,
  { scope, rung, rule }: { readonly scope: string; readonly rung: Rung; readonly rule: RungRule },
): Promise<void> {
  const row = sealRow<RungRulesTable>(vault, 'rung_rules', {
    scope,
    rung,
    accepted: rule.isAccepted ? 1 : 0,
    reason: rule.reason,
    since: rule.sinceMs,
  });
  await tx
    .insertInto('rung_rules')
    .values(row)
    .onConflict((c) => c.columns(['scope', 'rung']).doUpdateSet(row))
    .execute();
}

/** Whether there was one. */
export async function deleteRungRule(tx: Tx, scope: string, rung: Rung): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('rung_rules')
    .where('scope', '=', scope)
    .where('rung', '=', rung)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteRungRules(tx: Tx, scope: string): Promise<void> {
  await tx.deleteFrom('rung_rules').where('scope', '=', scope).execute();
}

function toPolicy(vault: Vault, rows: readonly RungRulesTable[]): RungPolicy {
  if (rows.length === 0) return noPolicy;
  return Object.fromEntries(
    rows.flatMap((stored): (readonly [Rung, RungRule | 'unreadable'])[] =>
      isRung(stored.rung) ? [[stored.rung, readOrUnreadable(() => open(vault, stored))]] : [],
    ),
  );
}

function open(vault: Vault, stored: RungRulesTable): RungRule {
  const row = openRow<RungRulesTable>(vault, 'rung_rules', stored);
  return { isAccepted: row.accepted === 1, reason: row.reason, sinceMs: row.since };
}
