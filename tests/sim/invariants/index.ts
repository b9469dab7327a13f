/** All of them, by number. */
import { containment } from './i01-containment.ts';
import { containmentOfTokens } from './i01-containment-of-tokens.ts';
import { aBearerMovesNoTrust } from './i02-a-bearer-moves-no-trust.ts';
import { sealedOrSilent } from './i03-sealed-or-silent.ts';
import { tokensWholeAndForward } from './i04-tokens-whole-and-forward.ts';
import { wholeAndForward } from './i04-whole-and-forward.ts';
import { anAckIsAProof } from './i05-an-ack-is-a-proof.ts';
import { evidenceOfTokens } from './i05-evidence-of-tokens.ts';
import { theRollIsTheDenominator } from './i06-the-roll-is-the-denominator.ts';
import { endsOfTokens } from './i07-ends-of-tokens.ts';
import { oneClock } from './i07-one-clock.ts';
import { aCacheMaySayYes } from './i08-a-cache-may-say-yes.ts';
import { scopeInTheStatement } from './i09-scope-in-the-statement.ts';
import { unreadableIsNotAbsent } from './i10-unreadable-is-not-absent.ts';
import { persistBeforeUse } from './i11-persist-before-use.ts';
import { secretsStayOutOfSight } from './i12-secrets-stay-out-of-sight.ts';
import { oneAnswerToAStranger } from './i13-one-answer-to-a-stranger.ts';
import { twoLiveAtMost } from './i14-two-live-at-most.ts';
import { versionsOfTokens } from './i14-versions-of-tokens.ts';
import type { Check } from './invariant.ts';
import { resends } from './resends.ts';
import { tokenNotes } from './token-notes.ts';

export const checks: readonly Check[] = [
  // What later ones rest on is noted first.
  ...anAckIsAProof,
  ...evidenceOfTokens,
  ...containment,
  ...containmentOfTokens,
  ...aBearerMovesNoTrust,
  ...sealedOrSilent,
  ...wholeAndForward,
  ...tokensWholeAndForward,
  ...theRollIsTheDenominator,
  ...oneClock,
  ...endsOfTokens,
  ...aCacheMaySayYes,
  ...scopeInTheStatement,
  ...unreadableIsNotAbsent,
  ...persistBeforeUse,
  ...secretsStayOutOfSight,
  ...oneAnswerToAStranger,
  ...twoLiveAtMost,
  ...versionsOfTokens,
  ...resends,
  ...tokenNotes,
];
