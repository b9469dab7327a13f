/** The rotation of a shared token and everything that its decisions look at, read at the source in one pass. */
import { evaluateGate, type Gate, type Holder, isRunning, type Rotation } from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import type { Db } from '../../store/schema.ts';
import { reportedWithinMs } from '../../token-reports.ts';
import { observeHolders } from './observe-holders.ts';

export interface TokenView {
  readonly rotation: Rotation;
  readonly holders: readonly Holder[];
  /** Of an ended rotation: open, with nothing to wait for. */
  readonly gate: Gate;
}

export async function viewToken(hub: Hub, db: Db, rotation: Rotation): Promise<TokenView> {
  const holders = await observeHolders(hub, db, rotation.secret, rotation);
  return { rotation, holders, gate: gateOf(hub, rotation, holders) };
}

function gateOf(hub: Hub, rotation: Rotation, holders: readonly Holder[]): Gate {
  if (!isRunning(rotation)) return { open: true, blockers: [], cutOff: [] };
  const policy = {
    quietWindowMs: hub.settings.quietWindowMs,
    reportedWithinMs: reportedWithinMs(hub.settings),
  };
  const references = hub.references.find(rotation.secret);
  const observations = { hosts: [], holders, replicas: [], references, verifyUntilMs: null };
  return evaluateGate(rotation, observations, policy, hub.clock.now());
}
