/** Who takes and sends the token `api` in tests: everything in order, in the middle of a rotation from 1 to 2. */
import type { GatePolicy, Observations } from './gate.ts';
import type { Holder, Probe } from './holder.ts';
import type { Phase, Rotation } from './phases.ts';
import type { References } from './references.ts';
import { now, observed, rollHost, rotationIn } from './roll.fixture.ts';

export const tokenPolicy: GatePolicy = { quietWindowMs: 1_000, reportedWithinMs: 100 };

export const takesBoth: Probe = { takes: [1, 2], refuses: [], randomRefused: true };
export const dropped: Probe = { takes: [2], refuses: [1], randomRefused: true };

/** A push host with a listener, seen with version 2, quiet for long. */
export function holder(id: string, changes: Partial<Holder> = {}): Holder {
  return {
    ...rollHost(id),
    kind: 'host',
    verifies: true,
    isClosed: false,
    presents: true,
    isReleased: false,
    probedBy: 'hub',
    probe: takesBoth,
    quiet: { flatSinceMs: now - 1_100, reportedAtMs: now - 100 },
    sources: [],
    sinks: [],
    ...changes,
  };
}

export function replica(changes: Partial<Holder> = {}): Holder {
  return holder('replica:local', { kind: 'replica', presents: false, ...changes });
}

export function caller(id: string, changes: Partial<Holder> = {}): Holder {
  return holder(id, { kind: 'caller', verifies: false, presents: false, probe: null, quiet: null, ...changes });
}

export function tokenRotation(phase: Phase, changes: Partial<Rotation> = {}): Rotation {
  return rotationIn(phase, { secret: 'api', terms: { auto: 'off', batch: 1, narrowByMs: null }, ...changes });
}

export function observedHolders(holders: readonly Holder[], references: References | null = null): Observations {
  return observed([], { holders, replicas: [], references });
}
