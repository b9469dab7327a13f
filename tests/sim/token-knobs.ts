/** What a run has of shared tokens; drawn from dice of its own, so that a run without any is what it was before there were some. */
import type { Dice } from './engine/dice.ts';
import type { Knobs } from './knobs.ts';

export interface TokenKnobs {
  /** Names of the shared tokens that may come to be. */
  readonly secrets: readonly string[];
  readonly quietWindowMs: number;
  /** Mean time between two calls of a caller beside the hub. */
  readonly callEveryMs: number;
  /** The forgotten one calls so seldom. */
  readonly forgottenEveryMs: number;
  readonly operatorEveryMs: number;
  /** Whether the first token is one that the fleet has had for years. */
  readonly imports: boolean;
}

/** Two runs in five have tokens. They are quieter in other respects, or no rotation of a token would come to its end. */
export function drawTokenKnobs(dice: Dice): TokenKnobs | undefined {
  if (!dice.chance(0.4)) return undefined;
  return {
    secrets: dice.chance(0.25) ? ['api', 'ci'] : ['api'],
    quietWindowMs: dice.pick([8_000, 20_000]),
    callEveryMs: dice.pick([2_000, 4_000]),
    forgottenEveryMs: dice.pick([4_000, 12_000]),
    operatorEveryMs: dice.pick([5_000, 10_000]),
    imports: dice.chance(0.5),
  };
}

export function withTokens(knobs: Knobs, dice: Dice): Knobs {
  return {
    ...knobs,
    beatMs: dice.pick([4_000, 8_000]),
    hubTimerLateMs: dice.pick([4_000, 9_000]),
    operatorEveryMs: dice.pick([10_000, 30_000]),
    thiefEveryMs: dice.chance(0.5) ? 0 : knobs.thiefEveryMs,
    // More statements are made in the same time, and each is a step.
    faultPerStep: knobs.faultPerStep / 2,
    faultyEvents: dice.between(350, 750),
  };
}
