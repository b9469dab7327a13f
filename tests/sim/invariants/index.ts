/** All of them, by number. */
import { containment } from './i01-containment.ts';
import { aBearerMovesNoTrust } from './i02-a-bearer-moves-no-trust.ts';
import { sealedOrSilent } from './i03-sealed-or-silent.ts';
import { wholeAndForward } from './i04-whole-and-forward.ts';
import { anAckIsAProof } from './i05-an-ack-is-a-proof.ts';
import { theRollIsTheDenominator } from './i06-the-roll-is-the-denominator.ts';
import { oneClock } from './i07-one-clock.ts';
import { aCacheMaySayYes } from './i08-a-cache-may-say-yes.ts';
import { scopeInTheStatement } from './i09-scope-in-the-statement.ts';
import { unreadableIsNotAbsent } from './i10-unreadable-is-not-absent.ts';
import { persistBeforeUse } from './i11-persist-before-use.ts';
import { secretsStayOutOfSight } from './i12-secrets-stay-out-of-sight.ts';
import { oneAnswerToAStranger } from './i13-one-answer-to-a-stranger.ts';
import { twoLiveAtMost } from './i14-two-live-at-most.ts';
import type { Check } from './invariant.ts';
import { resends } from './resends.ts';

export const checks: readonly Check[] = [
  // What later ones rest on is noted first.
  ...anAckIsAProof,
  ...containment,
  ...aBearerMovesNoTrust,
  ...sealedOrSilent,
  ...wholeAndForward,
  ...theRollIsTheDenominator,
  ...oneClock,
  ...aCacheMaySayYes,
  ...scopeInTheStatement,
  ...unreadableIsNotAbsent,
  ...persistBeforeUse,
  ...secretsStayOutOfSight,
  ...oneAnswerToAStranger,
  ...twoLiveAtMost,
  ...resends,
];
