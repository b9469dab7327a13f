/** Who needs a rung: the hosts that nothing else would let in, counted over the whole roll before any filter (I6). */
import type { HostStatus } from '../pins/pin.ts';
import { acceptedRungs, type RungPolicy } from './policy.ts';
import type { Rung } from './rung.ts';

/** One row of the registry, as a question about rungs sees it. */
export interface StandingHost {
  readonly id: string;
  readonly status: HostStatus | 'unreadable';
  /** The rungs by which a verifier has seen that it is this host, in its present life, and that would let it in now (I5). */
  readonly proven: readonly Rung[];
  /** What was decided for it alone. */
  readonly policy: RungPolicy;
}

/** Those that would be refused everything once the fleet's rule closes the rung. */
export function whoNeeds(rung: Rung, fleet: RungPolicy, hosts: readonly StandingHost[]): readonly string[] {
  const after: RungPolicy = { ...fleet, [rung]: { isAccepted: false, reason: '', sinceMs: null } };
  return hosts.filter((host) => isStranded(rung, after, host)).map(({ id }) => id);
}

function isStranded(rung: Rung, after: RungPolicy, { status, proven, policy }: StandingHost): boolean {
  // What was decided for it alone goes on; and an evicted host holds nothing that could be refused.
  if (status === 'evicted' || policy[rung] !== undefined) return false;
  const left = acceptedRungs(after, policy);
  // Its enrolment brings it what the highest rung takes.
  if (status === 'invited') return !left.includes('derived');
  return !left.some((other) => proven.includes(other));
}
