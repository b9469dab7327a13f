/** I6: readiness is counted over all hosts of the registry, before any filter, and a pass over nothing is none. */
import type { HostRow, RotationRow, StoreSnapshot } from '../machines/store-snapshot.ts';
import { assertThat, type Check } from './invariant.ts';

/** Rolling ends when every row of the registry is evicted, left, or proven; or, after a leak, with the window. */
const rollingEndsWithEverybody: Check = {
  onCommit: (world, before, after) => {
    for (const rotation of after.rotations) {
      const former = before.rotations.find(({ id }) => id === rotation.id);
      if (former?.phase !== 'rolling' || rotation.phase !== 'proving') continue;
      if (rotation.reason === 'leak' && !isOpen(after, rotation, world.hub.time?.now() ?? 0)) continue;
      const roll = rollOf(after);
      assertThat(roll.length > 0, 'I6', () => 'rolling ended over an empty roll');
      const lacking = roll.filter((host) => lacks(host, rotation)).map(({ id }) => id);
      assertThat(
        lacking.length === 0,
        'I6',
        () => `rolling ended though ${lacking.join()} did not prove version ${rotation.to_version}`,
      );
    }
  },
};

/** A rotation ends when every row of the registry has acknowledged its narrowed step. */
const narrowingEndsWithEverybody: Check = {
  onCommit: (_world, before, after) => {
    for (const rotation of after.rotations) {
      const former = before.rotations.find(({ id }) => id === rotation.id);
      const isSuperseded = after.rotations.some(({ from_version }) => from_version === rotation.to_version);
      if (former?.phase !== 'narrowing' || rotation.phase !== 'done' || isSuperseded || rotation.reason === 'leak')
        continue;
      const lacking = rollOf(after)
        .filter((host) => !hasNarrowed(after, host, rotation))
        .map(({ id }) => id);
      assertThat(lacking.length === 0, 'I6', () => `narrowing ended though ${lacking.join()} did not report it`);
    }
  },
};

function rollOf({ hosts }: StoreSnapshot): readonly HostRow[] {
  return [...hosts.values()].filter(({ status }) => status !== 'removed');
}

function lacks({ id, status, proven_version }: HostRow, { left, to_version }: RotationRow): boolean {
  return status !== 'evicted' && !left.includes(id) && (proven_version ?? 0) < to_version;
}

function hasNarrowed(
  { assignments }: StoreSnapshot,
  { id, status }: HostRow,
  { left, to_version }: RotationRow,
): boolean {
  if (status === 'evicted' || left.includes(id)) return true;
  const assignment = assignments.get(id);
  return assignment?.accept === `[${to_version}]` && assignment.acked_step === assignment.step;
}

function isOpen({ generations }: StoreSnapshot, { from_version }: RotationRow, hubNowMs: number): boolean {
  const from = generations.get(from_version);
  return from?.state === 'previous' && hubNowMs < (from.verify_until ?? 0);
}

export const theRollIsTheDenominator: readonly Check[] = [rollingEndsWithEverybody, narrowingEndsWithEverybody];
