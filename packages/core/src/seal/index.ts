/** Sealing and signing: HPKE, wrap keys, hub keys, deliveries, statements, challenges. */
export {
  type AcceptedVersion,
  type Assignment,
  type AssignmentValue,
  encodeAssignment,
  isDrop,
  type MasterValue,
  NOTHING,
  parseAssignment,
  type RefusedVersion,
} from './assignment.ts';
export {
  answerChallenge,
  CHALLENGE_NONCE_BYTES,
  type Challenge,
  type ChallengePurpose,
  type ChallengeSubject,
  type SealChallengeInput,
  sealChallenge,
  verifyAnswer,
} from './challenge.ts';
export type { Envelope } from './envelope.ts';
export { type OpenBaseInput, openBase, type SealBaseInput, sealBase } from './hpke.ts';
export {
  certifyHubKey,
  createHubKey,
  createHubRoot,
  HubKey,
  type HubKeyRecord,
  HubRoot,
  restoreHubKey,
  restoreHubRoot,
  type VerifiedHubKey,
  verifyHubKeyRecord,
} from './hub-key.ts';
export { type DeliveryContext, type OpenedDelivery, openDelivery } from './open-delivery.ts';
export { type SealDeliveryInput, sealDelivery } from './seal-delivery.ts';
export {
  type SignedStatement,
  type Statement,
  signStatement,
  type VerifiedStatement,
  verifyStatement,
} from './statement.ts';
export {
  fingerprint,
  generateWrapKey,
  parseWrapPublicKey,
  restoreWrapKey,
  type WrapKeyPair,
  WrapPublicKey,
  type WrapSuite,
} from './wrap-key.ts';
