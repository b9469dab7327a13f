/** Rotation: phases, evidence, gates, waves, generations, and the roll call that says who would be stranded. */

export { decideAdvance, decideLeave, decideRollback } from './advance.ts';
export {
  type AssignedHost,
  type AssignmentSets,
  assignmentSets,
  commandVersions,
  contains,
} from './assignment-sets.ts';
export {
  type Blocker,
  evaluateGate,
  type Gate,
  type GatePolicy,
  type Observations,
  type ReplicaObservation,
} from './gate.ts';
export {
  currentGeneration,
  type Generation,
  isWindowOpen,
  liveGenerations,
  previousGeneration,
} from './generations.ts';
export {
  type HitSource,
  type Holder,
  type Probe,
  type Quiet,
  replicaAccepts,
  retiringVersion,
  type SinkState,
  stayingVersion,
} from './holder.ts';
export {
  acceptHubTime,
  assertTimeTrusted,
  type ClockReading,
  type HubTime,
  readHubTime,
  type StoredHubTime,
  startHubTime,
} from './hub-time.ts';
export { keepFairly } from './keep-fairly.ts';
export { type LeakAct, type LeakFacts, type LeakRow, whatThiefCanStillDo } from './leak.ts';
export { coverLeave, type LeaveNames } from './leave.ts';
export {
  type Auto,
  isRunning,
  type Phase,
  type PhaseRow,
  phases,
  type Rotation,
  type RotationReason,
  type Side,
  type TokenTerms,
} from './phases.ts';
export { type CountRecord, noteCount, wasQuiet } from './quiet.ts';
export { type HubCheck, type Readiness, type ReadinessProblem, readiness } from './readiness.ts';
export type { Reference, References } from './references.ts';
export {
  type CutDecision,
  type CutRequest,
  decideCut,
  decideRetire,
  type RetireDecision,
  type RetireRequest,
} from './retire.ts';
export { hasProven, lacksNothing, type RollHost, type UnreadablePart } from './roll.ts';
export { decideStart, type StartDecision, type StartRequest } from './start.ts';
export { retireNow, type Sweep, safeToRetire, strandedByRetiring, sweepRoll } from './sweep.ts';
export { type TokenLeakAct, type TokenLeakRow, whatTokenThiefCanStillDo } from './token-leak.ts';
export {
  decideTokenCut,
  decideTokenStart,
  endAfterAcceptedTime,
  goesOnByItself,
  mustNarrowNow,
  oldTokenVerifies,
  type TokenStartRequest,
} from './token-start.ts';
export { planWave, type Wave, type WavePolicy } from './wave.ts';
