/** A rotation of the master and everything that its decisions look at, read at the source in one pass. */
import { RollcallError } from '@rollcall/core/errors';
import {
  evaluateGate,
  type Gate,
  isRunning,
  type RollHost,
  type Rotation,
  type Sweep,
  sweepRoll,
} from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import { type LiveRecord, listUndestroyed } from '../../store/generations.ts';
import { findRotation } from '../../store/rotations.ts';
import type { Db } from '../../store/schema.ts';
import { observeRoll } from '../observe-roll.ts';

export interface RollView {
  readonly hosts: readonly RollHost[];
  readonly generations: readonly LiveRecord[];
  readonly sweep: Sweep;
}

export interface RotationView extends RollView {
  readonly rotation: Rotation;
  /** Of an ended rotation: open, with nothing to wait for. */
  readonly gate: Gate;
  /** When the version that it goes from stops verifying; `null` when it has. */
  readonly verifyUntilMs: number | null;
}

export async function viewRoll(hub: Hub, db: Db, rotation: Rotation | null): Promise<RollView> {
  const generations = await listUndestroyed(db, hub.vault, MASTER);
  const hosts = await observeRoll(hub, db, rotation, generations);
  return { hosts, generations, sweep: sweepRoll(hosts, generations, hub.clock.now()) };
}

export async function viewRotation(hub: Hub, db: Db, rotation: Rotation): Promise<RotationView> {
  const view = await viewRoll(hub, db, rotation);
  const verifyUntilMs = view.generations.find(({ version }) => version === rotation.from)?.verifyUntilMs ?? null;
  return { ...view, rotation, verifyUntilMs, gate: gateOf(hub, rotation, view, verifyUntilMs) };
}

/** By id, or the newest of a secret by the secret's name. */
export async function readRotation(hub: Pick<Hub, 'vault'>, db: Db, idOrSecret: string): Promise<Rotation> {
  const rotation = await findRotation(db, hub.vault, idOrSecret);
  if (rotation === undefined) throw new RollcallError('rotation_unknown');
  return rotation;
}

function gateOf(hub: Hub, rotation: Rotation, view: RollView, verifyUntilMs: number | null): Gate {
  if (!isRunning(rotation)) return { open: true, blockers: [], cutOff: [] };
  const replicas = [thisReplica(hub, rotation)];
  const observations = { hosts: view.hosts, holders: [], replicas, references: null, verifyUntilMs };
  return evaluateGate(rotation, observations, { quietWindowMs: 0, reportedWithinMs: 0 }, hub.clock.now());
}

/** On SQLite there is one replica, this process. What it holds is asked of the very object that verifies. */
function thisReplica(hub: Hub, rotation: Rotation) {
  const holds = [hub.generations.current?.version, hub.generations.previous?.version];
  return {
    id: 'replica:local',
    holds: holds.filter((version): version is number => version !== undefined),
    sinceMs: rotation.phaseStartedAtMs,
  };
}
