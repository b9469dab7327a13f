/** `rung accept`, `rung refuse`, `rung clear`: which rungs are accepted, of the fleet or of one host, and why (design 3). */
import { RollcallError } from '@rollcall/core/errors';
import { coverLeave, stayingVersion } from '@rollcall/core/rotation';
import {
  assertRungLeft,
  closingOf,
  type Rung,
  type RungPolicy,
  type RungRule,
  rungs,
  whoNeeds,
} from '@rollcall/core/rungs';
import type { DecideRungBody, RungRow } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import { refresh } from '../../refresh.ts';
import { type Actor, appendAudit } from '../../store/audit.ts';
import { readHost } from '../../store/hosts.ts';
import { findRunning } from '../../store/rotations.ts';
import { deleteRungRule, FLEET, findRungPolicy, writeRungRule } from '../../store/rung-rules.ts';
import type { Tx } from '../../store/schema.ts';
import { orUnreadable } from '../../store/trust-row.ts';
import { toRungRow } from '../../views/rungs.ts';
import { observeStanding } from './observe-standing.ts';

/** For one host a person says it of that host; for the fleet nobody may be cut off who is not named (`rung_in_use`). */
export async function decideRungRule(hub: Hub, rung: Rung, body: DecideRungBody, actor: Actor): Promise<RungRow> {
  const { isAccepted, reason, host, leave = [] } = body;
  assertReason(reason);
  const rule: RungRule = { isAccepted, reason, sinceMs: hub.clock.now() };
  const row = await hub.db.transaction().execute(async (tx) => {
    const fleet = await findRungPolicy(tx, hub.vault, FLEET);
    const action = isAccepted ? 'rung.accepted' : 'rung.refused';
    if (host !== undefined) {
      await readHost(tx, hub.vault, host);
      const own: RungPolicy = { ...(await findRungPolicy(tx, hub.vault, host)), [rung]: rule };
      assertRungLeft(fleet, own);
      await writeRungRule(tx, hub.vault, { scope: host, rung, rule });
      await record(hub, tx, { action, target: host, rung, reason, left: [], actor });
      return toRungRow(rung, fleet, own);
    }
    const after: RungPolicy = { ...fleet, [rung]: rule };
    if (!isAccepted) assertRungLeft(await afterClosings(hub, tx, after), {});
    const left = isAccepted ? [] : await coverCutOff(hub, tx, rung, leave);
    await writeFleetRule(hub, tx, rung, rule);
    await record(hub, tx, { action, target: 'fleet', rung, reason, left, actor });
    return toRungRow(rung, after, {});
  });
  await refresh(hub);
  return row;
}

/** What holds for every host that nothing else was decided for. */
export function writeFleetRule(hub: Pick<Hub, 'vault'>, tx: Tx, rung: Rung, rule: RungRule): Promise<void> {
  return writeRungRule(tx, hub.vault, { scope: FLEET, rung, rule });
}

/** The host goes by what holds for the fleet again. */
export async function clearRungRule(
  hub: Hub,
  rung: Rung,
  { host, reason }: { readonly host: string; readonly reason: string },
  actor: Actor,
): Promise<RungRow> {
  assertReason(reason);
  const row = await hub.db.transaction().execute(async (tx) => {
    await readHost(tx, hub.vault, host);
    if (!(await deleteRungRule(tx, host, rung))) throw new RollcallError('rung_undecided', { host, rung });
    await record(hub, tx, { action: 'rung.cleared', target: host, rung, reason, left: [], actor });
    const own = await findRungPolicy(tx, hub.vault, host);
    const fleet = await findRungPolicy(tx, hub.vault, FLEET);
    assertRungLeft(fleet, own);
    return toRungRow(rung, fleet, own);
  });
  await refresh(hub);
  return row;
}

/** As it will be once the rotations that close rungs have ended: a time may end them, whatever is decided meanwhile. */
async function afterClosings({ vault }: Pick<Hub, 'vault'>, tx: Tx, fleet: RungPolicy): Promise<RungPolicy> {
  let after = fleet;
  for (const rung of rungs) {
    const rotation = await orUnreadable(findRunning(tx, vault, closingOf(rung)));
    if (rotation === undefined) continue;
    const goesBack = rotation !== 'unreadable' && stayingVersion(rotation) === rotation.from;
    if (!goesBack) after = { ...after, [rung]: { isAccepted: false, reason: '', sinceMs: null } };
  }
  return after;
}

function assertReason(reason: string): void {
  if (reason.trim() === '') throw new RollcallError('malformed_request', { at: '/reason' });
}

/** Whoever would be refused everything must be named; more may be. */
async function coverCutOff(hub: Hub, tx: Tx, rung: Rung, leave: readonly string[]): Promise<readonly string[]> {
  const { fleet, hosts } = await observeStanding(hub, tx);
  const needing = whoNeeds(rung, fleet, hosts);
  const members = hosts.map(({ id }) => id);
  return coverLeave({ leave, left: [] }, needing, members, 'rung_in_use');
}

async function record(
  hub: Hub,
  tx: Tx,
  act: {
    readonly action: string;
    readonly target: string;
    readonly rung: Rung;
    readonly reason: string;
    readonly left: readonly string[];
    readonly actor: Actor;
  },
): Promise<void> {
  const { action, target, rung, reason, left, actor } = act;
  const details = { rung, because: reason, left };
  await appendAudit(tx, { at: hub.clock.now(), actor, action, target, outcome: 'done', details });
}
