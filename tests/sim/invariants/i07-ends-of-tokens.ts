/** I7 for shared tokens: the time that was said ends the old version on the hub's clock, and a later time never takes its place. */

import { HUB } from '../token-ledger.ts';
import { assertThat, type Check } from './invariant.ts';

const endedTokensTakeNobody: Check = {
  onAnswered: (world, { request, hubNowMs, nowMs }, { status }) => {
    const ledger = world.tokens?.ledger;
    if (ledger === undefined || status !== 200 || request.tokens.length === 0) return;
    for (const text of request.tokens) {
      const known = ledger.values.get(text);
      const rotation = known === undefined ? undefined : world.snapshot.tokenRotations.get(known.secret);
      if (known === undefined || rotation?.from_version !== known.version || rotation.phase === 'rolled_back') continue;
      const end = ledger.ends.get(rotation.id);
      // Memory learns of an end that was brought forward as it learns of everything else.
      const isOver = end !== undefined && hubNowMs >= end.narrowByMs && nowMs - end.sinceMs > world.yesMs;
      assertThat(!isOver, 'I7', () => `${HUB} took version ${known.version} of ${known.secret} after its end`);
      if (end !== undefined) world.sometimes.note('a token was taken before its end');
    }
  },
};

const endsOnlyComeNearer: Check = {
  onCommit: (_world, before, after) => {
    for (const { id, secret, narrow_by } of after.tokenRotations.values()) {
      const former = before.tokenRotations.get(secret);
      if (former?.id !== id || former.narrow_by === null) continue;
      const isNearer = narrow_by !== null && narrow_by <= former.narrow_by;
      assertThat(isNearer, 'I7', () => `the end of the old version of ${secret} was put off`);
    }
  },
};

export const endsOfTokens: readonly Check[] = [endedTokensTakeNobody, endsOnlyComeNearer];
