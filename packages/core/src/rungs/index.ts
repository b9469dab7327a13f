/** Rungs: what a host presents, what each act takes at least, and which rungs are accepted of whom. */

export { type Act, acts, type Credential, isEnoughFor, type Proof } from './acts.ts';
export {
  CLOSING,
  type ClosingObservations,
  type ClosingProbe,
  type ClosingRequest,
  closingOf,
  closings,
  decideClosing,
  decideClosingCut,
  evaluateClosing,
  rungOfClosing,
} from './closing.ts';
export {
  acceptedRungs,
  assertRungLeft,
  decidedFor,
  decideRung,
  noPolicy,
  openRule,
  type RungPolicy,
  type RungRule,
  type RungVerdict,
  ruleOf,
} from './policy.ts';
export { heightOf, isRung, parseRung, type Rung, rungs, rungsAbove } from './rung.ts';
export { lastStoodOn, noteGap, noteSighting, type Sightings } from './sightings.ts';
export { type StandingHost, whoNeeds } from './standing.ts';
