/** Rungs: what is accepted of whom, and why. */
import { parseRung } from '@rollcall/core/rungs';
import { routes } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import { clearRungRule, decideRungRule } from '../../operations/rungs/decide-rung.ts';
import { listRungRows } from '../../views/rungs.ts';
import type { OperatorRegister } from './register-operator.ts';

export function registerRungRoutes(on: OperatorRegister, hub: Hub): void {
  on(routes.listRungs, async () => listRungRows(hub));
  on(routes.decideRung, async ({ name, body, actor }) => decideRungRule(hub, parseRung(name), body, actor));
  on(routes.clearRung, async ({ name, body, actor }) => clearRungRule(hub, parseRung(name), body, actor));
}
