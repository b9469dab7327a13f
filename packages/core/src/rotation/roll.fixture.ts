/** A small fleet for tests: every host is pinned and proven on generation 2, and generation 1 is the previous one. */

import type { Observations } from './gate.ts';
import type { Generation } from './generations.ts';
import type { Phase, Rotation } from './phases.ts';
import type { RollHost } from './roll.ts';

export const now = 1_000_000_000;

/** Active, fresh, pinned, switched and proven on 2. */
export function rollHost(id: string, changes: Partial<RollHost> = {}): RollHost {
  return {
    id,
    status: 'active',
    fresh: true,
    lastSeenAtMs: now - 1,
    pin: 'usable',
    unusableKey: false,
    pendingPins: 0,
    holdsMaster: false,
    provenVersion: 2,
    presentingOld: false,
    switched: true,
    narrowed: true,
    refusal: null,
    unreadable: [],
    ...changes,
  };
}

/** On the roll, never enrolled. */
export function invitedHost(id: string): RollHost {
  const nothing = { provenVersion: null, switched: false, narrowed: false, lastSeenAtMs: null };
  return rollHost(id, { status: 'invited', fresh: false, pin: 'none', ...nothing });
}

/** Generation 2 is current, 1 previous until `verifyUntilMs`. */
export function generations(verifyUntilMs: number | null, leaked: boolean = false): readonly Generation[] {
  return [
    { version: 1, state: 'previous', verifyUntilMs, leaked },
    { version: 2, state: 'current', verifyUntilMs: null, leaked: false },
  ];
}

/** The rotation of the master from 1 to 2. */
export function rotationIn(phase: Phase, changes: Partial<Rotation> = {}): Rotation {
  return {
    id: 'r-1',
    secret: 'master',
    from: 1,
    to: 2,
    phase,
    reason: 'planned',
    startedAtMs: now - 1_000,
    phaseStartedAtMs: now - 500,
    left: [],
    pausedBecause: null,
    canary: null,
    ...changes,
  };
}

/** One replica that holds both, and the window closed. */
export function observed(hosts: readonly RollHost[], changes: Partial<Observations> = {}): Observations {
  return {
    hosts,
    holders: [],
    replicas: [{ id: 'hub-1', holds: [1, 2], sinceMs: now - 100 }],
    references: null,
    verifyUntilMs: null,
    ...changes,
  };
}
