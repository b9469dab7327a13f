/** The hub itself: status, readiness, audit, operators. */
import { limits } from '@rollcall/core/limits';
import { parseInstant } from '@rollcall/core/time';
import { createOpenApi, routes } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import type { HubStatus } from '../../hub-status.ts';
import { acceptTime } from '../../operations/accept-time.ts';
import { addOperator, removeOperator, rotateOperatorToken, toOperatorRow } from '../../operations/manage-operators.ts';
import type { SelfChecks } from '../../self-checks.ts';
import { listAudit } from '../../store/audit.ts';
import { listOperators } from '../../store/operators.ts';
import { showReadiness } from '../../views/rotations.ts';
import type { OperatorRegister } from './register-operator.ts';

export function registerHubRoutes(on: OperatorRegister, hub: Hub, checks: SelfChecks, status: HubStatus): void {
  const document = createOpenApi();
  on(routes.hubStatus, async () => status());
  on(routes.openApi, async () => document);
  on(routes.acceptTime, async ({ actor }) => acceptTime(hub, actor));
  on(routes.readiness, async () => showReadiness(hub, await checks()));
  on(routes.listAudit, async ({ query }) => ({
    records: await listAudit(hub.db, Number(query.after ?? 0), pageOf(query.limit), {
      ...query,
      sinceMs: query.since === undefined ? undefined : parseInstant(query.since),
    }),
  }));
  on(routes.listOperators, async () => ({ operators: (await listOperators(hub.db, hub.vault)).map(toOperatorRow) }));
  on(routes.addOperator, async ({ body, actor }) => addOperator(hub, body.name, body.role, actor));
  on(routes.removeOperator, async ({ name, actor }) => removeOperator(hub, name, actor));
  on(routes.rotateOperatorToken, async ({ name, actor }) => rotateOperatorToken(hub, name, actor));
}

function pageOf(limit: string | undefined): number {
  return Math.min(Math.max(Number(limit ?? limits.auditPageRecords), 1), limits.auditPageRecords);
}
