/** The walk of a rotation, one row per phase (design 5). */

export type Phase =
  | 'planned'
  | 'widening'
  | 'rolling'
  | 'proving'
  | 'narrowing'
  | 'done'
  | 'reverting'
  | 'withdrawing'
  | 'rolled_back';

/** `old` and `new` stand for the versions that the rotation goes from and to. */
export type Side = 'old' | 'new';

export interface PhaseRow {
  /** The phase that follows when the gate opens; `null` at an end. */
  readonly next: Phase | null;
  /** Where a rollback leads; `null` where there is no way back. */
  readonly rollback: Phase | null;
  /** What a verifier takes. */
  readonly verifierAccepts: readonly Side[];
  /** What a caller sends, before and after its own switch. The same twice where switching is no part of the phase. */
  readonly callerPresents: { readonly before: Side; readonly after: Side };
  /** Whether new callers are switched in this phase. */
  readonly switches: boolean;
}

const both: readonly Side[] = ['old', 'new'];
const stay = { before: 'old', after: 'old' } as const;
const mixed = { before: 'old', after: 'new' } as const;
const moved = { before: 'new', after: 'new' } as const;

export const phases: Readonly<Record<Phase, PhaseRow>> = {
  planned: { next: 'widening', rollback: null, verifierAccepts: ['old'], callerPresents: stay, switches: false },
  widening: { next: 'rolling', rollback: 'withdrawing', verifierAccepts: both, callerPresents: stay, switches: false },
  rolling: { next: 'proving', rollback: 'reverting', verifierAccepts: both, callerPresents: mixed, switches: true },
  proving: { next: 'narrowing', rollback: 'reverting', verifierAccepts: both, callerPresents: moved, switches: false },
  narrowing: { next: 'done', rollback: null, verifierAccepts: ['new'], callerPresents: moved, switches: false },
  done: { next: null, rollback: null, verifierAccepts: ['new'], callerPresents: moved, switches: false },
  // The way back is the same walk in the other direction: callers first, then verifiers.
  reverting: { next: 'withdrawing', rollback: null, verifierAccepts: both, callerPresents: stay, switches: false },
  withdrawing: { next: 'rolled_back', rollback: null, verifierAccepts: ['old'], callerPresents: stay, switches: false },
  rolled_back: { next: null, rollback: null, verifierAccepts: ['old'], callerPresents: stay, switches: false },
};

export type RotationReason = 'planned' | 'leak';

/** A rotation, running or ended. Plain: this is what the store keeps. */
export interface Rotation {
  readonly id: string;
  /** `master`, or the name of a secret. */
  readonly secret: string;
  readonly from: number;
  readonly to: number;
  readonly phase: Phase;
  readonly reason: RotationReason;
  readonly startedAtMs: number;
  readonly phaseStartedAtMs: number;
  /** Members whose missing evidence an operator accepted. */
  readonly left: readonly string[];
  /** Why no further caller is switched; `null` while it runs. */
  readonly pausedBecause: string | null;
  /** The first caller to switch; `null` until one was chosen. */
  readonly canary: string | null;
  /** Of a shared token; the master has none of its own, its window is its generation's. */
  readonly terms?: TokenTerms;
}

/** How far a rotation goes by itself while its gates are open: nowhere, up to narrowing, to its end. */
export type Auto = 'off' | 'to_narrowing' | 'all';

export interface TokenTerms {
  readonly auto: Auto;
  /** How many callers switch at a time. */
  readonly batch: number;
  /** When the old version is refused, whoever presents it; `null`: when its gates say so. */
  readonly narrowByMs: number | null;
}

export function isRunning(rotation: Rotation): boolean {
  return phases[rotation.phase].next !== null;
}
