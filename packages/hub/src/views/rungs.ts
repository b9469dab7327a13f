/** Rungs as an operator sees them: what is accepted and why, and who stands where. */
import { decidedFor, type Rung, type RungPolicy, ruleOf, rungs } from '@rollcall/core/rungs';
import type { ListRungsAnswer, RungRow } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { observeStanding } from '../operations/rungs/observe-standing.ts';

/** Counted over every host of the roll, by its last beat; who was never heard stands nowhere. */
export async function listRungRows(hub: Hub): Promise<ListRungsAnswer> {
  const { fleet, hosts } = await observeStanding(hub, hub.db);
  const standsOn = hosts.map(({ id }) => hub.roll.get(id)?.rung ?? null);
  const count = (wanted: Rung | null) => standsOn.filter((rung) => rung === wanted).length;
  return {
    rungs: rungs.map((rung) => ({ ...toRungRow(rung, fleet, {}), hosts: count(rung) })),
    neverHeard: count(null),
    examined: hosts.length,
    exceptions: hosts.flatMap(({ id, policy }) =>
      rungs
        .filter((rung) => policy[rung] !== undefined)
        .map((rung) => ({ host: id, ...toRungRow(rung, fleet, policy) })),
    ),
  };
}

export function toRungRow(rung: Rung, fleet: RungPolicy, host: RungPolicy): RungRow {
  const rule = ruleOf(rung, fleet, host);
  const decided = decidedFor(rung, fleet, host);
  if (rule === 'unreadable') return { rung, accepted: null, decidedFor: decided, reason: UNREADABLE, since: null };
  const { isAccepted, reason, sinceMs } = rule;
  const since = sinceMs === null ? null : new Date(sinceMs).toISOString();
  return { rung, accepted: isAccepted, decidedFor: decided, reason, since };
}

const UNREADABLE = 'What was decided cannot be read, so nobody is let in by this rung until it is decided anew.';
