/** One row of the registry as a rotation sees it. The registry query returns every host of the roll as one of these. */

import type { HostStatus } from '../pins/index.ts';

export interface RollHost {
  readonly id: string;
  readonly status: HostStatus;
  /** Read off the clock (`isFresh`). */
  readonly fresh: boolean;
  readonly lastSeenAtMs: number | null;
  readonly pin: 'none' | 'unreadable' | 'usable';
  /** Its last publication was malformed; the pin, if any, stands. */
  readonly unusableKey: boolean;
  readonly pendingPins: number;
  /** It was sent the master itself (`payload: master`). */
  readonly holdsMaster: boolean;
  /** The highest version with which it authenticated in its current life; `null`: none, so its generation is unknown. */
  readonly provenVersion: number | null;
  /** What it authenticated with last is older than what it has proven. */
  readonly presentingOld: boolean;
  /** Its wanted assignment presents the version that the rotation goes to. */
  readonly switched: boolean;
  /** Under the bearer it is to present, it reported the step that accepts the new version alone. */
  readonly narrowed: boolean;
  /** Why it refused the delivery that is due; `null` when it did not. */
  readonly refusal: string | null;
  /** What the hub keeps of it and cannot read, which is not that there is none (I10). */
  readonly unreadable: readonly UnreadablePart[];
}

export type UnreadablePart = 'host' | 'pin' | 'pending' | 'assignment';

/** An evicted host holds nothing that is valid, so it lacks nothing (design 3, states). */
export function lacksNothing(host: RollHost): boolean {
  return host.status === 'evicted';
}

/** A step has to be above the one before: where that cannot be read, a person has to begin the host anew. */
export function isAssignable(host: RollHost): boolean {
  return !lacksNothing(host) && !host.unreadable.includes('assignment');
}

/** Whether a verifier has seen the host authenticate with `version`. What it says of itself is a hint (I5). */
export function hasProven(host: RollHost, version: number): boolean {
  return host.provenVersion !== null && host.provenVersion >= version;
}
