/** I14: a secret never has more than two accepted versions. */
import { assertThat, type Check } from './invariant.ts';

const twoInTheStore: Check = {
  onCommit: (_world, _before, { generations }) => {
    const live = [...generations.values()].filter(({ state, master }) => state !== 'destroyed' || master !== undefined);
    assertThat(live.length <= 2, 'I14', () => `${live.length} generations have a value`);
  },
};

const twoOnAHost: Check = {
  onAgentState: (_world, { name }, { durable }) => {
    for (const { secret, accept } of durable.assignments.values()) {
      assertThat(accept.length <= 2, 'I14', () => `${name} accepts ${accept.length} versions of ${secret}`);
    }
  },
};

export const twoLiveAtMost: readonly Check[] = [twoInTheStore, twoOnAHost];
