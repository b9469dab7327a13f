/** Keys and tokens: their types, their text forms, and what is derived from a master. */
export {
  assertGeneration,
  deriveHostKey,
  deriveHostKeyHmacSha256,
  deriveHostKeys,
  deriveSsoSeed,
  type MasterGeneration,
  type MasterScheme,
  purposes,
} from './derivation.ts';
export { ed25519PublicKey } from './ed25519.ts';
export {
  type CsrUse,
  type EnrolmentClaim,
  enrolmentKey,
  enrolmentProof,
  verifyEnrolmentProof,
} from './enrolment-proof.ts';
export {
  type EnrolmentToken,
  encodeEnrolmentToken,
  encodeHubRootFile,
  type HubRootFile,
  parseEnrolmentToken,
  parseHubRootFile,
} from './hub-trust.ts';
export { ALL_HOSTS, CALLER_PREFIX, parseMember } from './members.ts';
export { isHostId, parseHostId, parsePurpose, parseSecretName } from './names.ts';
export { SecretBytes } from './secret-bytes.ts';
export { parseMasterFile, parseTokenFile } from './secret-files.ts';
export { sinkDigest } from './sink-digest.ts';
export { encodeToken, parseToken, type TokenPrefix, tokenPrefixes } from './token.ts';
