/** What differs from run to run beside chance: drawn from the seed before anything else. */
import type { Dice } from './engine/dice.ts';

export interface Knobs {
  readonly hosts: number;
  readonly beatMs: number;
  readonly verifyWindowMs: number;
  readonly firstUseMinAgeMs: number;
  /** Longest way of a message that is not late. */
  readonly latencyMs: number;
  /** Chances for each message. */
  readonly lost: number;
  readonly late: number;
  readonly doubled: number;
  /** Chance that an operation of a store or a disk takes long, and how long at most. */
  readonly slow: number;
  readonly slowMs: number;
  /** Mean times between acts of operators and of the thief; 0: there is none. */
  /** Chance of a fault after each step: at any await of anybody. */
  readonly faultPerStep: number;
  readonly operatorEveryMs: number;
  readonly thiefEveryMs: number;
  readonly thief: ThiefKind;
  /** How late the timers of the hub are at most: a busy machine, and fewer events for a run of the same length. */
  readonly hubTimerLateMs: number;
  /** Events until faults stop. */
  readonly faultyEvents: number;
  /** Whether hosts are of an older fleet, and begin without a pin. */
  readonly olderFleet: boolean;
  /** Whether wall clocks are wrong from the start. */
  readonly wrongClocks: boolean;
}

/** What a thief has; what does most harm, most often. */
const thieves = ['master', 'master', 'bearer', 'recording', 'network', 'disk', 'token', 'database'] as const;

export type ThiefKind = (typeof thieves)[number];

export function drawKnobs(dice: Dice): Knobs {
  const isRough = dice.chance(0.6);
  const beatMs = dice.pick([5_000, 10_000, 20_000, 30_000]);
  return {
    hosts: dice.between(2, 4),
    beatMs,
    verifyWindowMs: dice.pick([2, 4, 10]) * 60_000 + dice.below(60_000),
    firstUseMinAgeMs: dice.pick([0, 30_000]),
    latencyMs: dice.pick([2, 50, 500]),
    lost: isRough ? dice.pick([0.02, 0.1, 0.3]) : 0,
    late: isRough ? dice.pick([0.02, 0.1]) : 0,
    doubled: isRough ? dice.pick([0, 0.05, 0.2]) : 0,
    slow: dice.pick([0, 0.02, 0.1]),
    slowMs: dice.pick([100, 3_000]),
    faultPerStep: isRough ? dice.pick([0.002, 0.006, 0.015]) : 0,
    operatorEveryMs: dice.pick([5_000, 15_000, 40_000]),
    thiefEveryMs: dice.chance(0.65) ? dice.pick([5_000, 15_000]) : 0,
    thief: dice.pick(thieves),
    hubTimerLateMs: dice.pick([1_000, 5_000, 15_000]),
    faultyEvents: dice.between(150, 450),
    olderFleet: dice.chance(0.2),
    wrongClocks: dice.chance(0.3),
  };
}
