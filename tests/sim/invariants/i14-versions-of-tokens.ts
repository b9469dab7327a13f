/** I14 for shared tokens: two values at most, each number one value for ever, and none destroyed before its rotation is over. */
import { isOver } from '../machines/store-snapshot.ts';
import { assertThat, type Check } from './invariant.ts';

const twoValuesAtMost: Check = {
  onCommit: (_world, _before, { currentTokens, tokenVersions }) => {
    for (const secret of currentTokens.keys()) {
      const live = [...tokenVersions.values()].filter((row) => row.secret === secret && row.text !== undefined);
      assertThat(live.length <= 2, 'I14', () => `${live.length} versions of ${secret} have a value`);
    }
  },
};

const oneNumberIsOneValue: Check = {
  onCommit: (_world, before, after) => {
    for (const [key, { text }] of after.tokenVersions) {
      const former = before.tokenVersions.get(key);
      if (former === undefined || former.text === text) continue;
      assertThat(text === undefined, 'I14', () => `${key} has another value than before`);
      const rotation = after.tokenRotations.get(former.secret);
      const goes = rotation?.phase === 'done' ? rotation.from_version : rotation?.to_version;
      const isGivenUp = rotation !== undefined && isOver(rotation) && goes === former.version;
      assertThat(isGivenUp, 'I14', () => `${key} was destroyed in ${rotation?.phase}`);
    }
  },
};

export const versionsOfTokens: readonly Check[] = [twoValuesAtMost, oneNumberIsOneValue];
