/** Pins: what a publication, an operator and first use do to the hub's record of a host's wrap key. */

export { mayReceiveCertificate, mayReceiveMaster } from './anchors.ts';
export {
  decideFirstUse,
  type EligibleHost,
  type ExposedHost,
  type ExposedWhy,
  type Exposure,
  type ExposurePolicy,
  type FirstUseGrant,
  type FirstUseHost,
  type FirstUseRequest,
  measureExposure,
  type ObservedKey,
} from './first-use.ts';
export {
  type ApprovalDecision,
  type ConfirmationDecision,
  decideApproval,
  decideConfirmation,
  decideRejection,
  type RejectionDecision,
} from './operator-word.ts';
export {
  type Anchor,
  type Fingerprint,
  type HeldPin,
  type HeldPins,
  type HostStatus,
  livePendings,
  type NewPin,
  type PendingPin,
  parseFingerprint,
} from './pin.ts';
export {
  decidePublication,
  type Publication,
  type PublicationPolicy,
  type PublishedKey,
  type PublishedWith,
} from './publication.ts';
export type { PinAlert, PinAnswer, PublicationCount, PublicationDecision } from './publication-decision.ts';
