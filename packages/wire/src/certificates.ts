/** `POST /v1/challenge` and `POST /v1/certificates`: a certificate by proof of the pinned key (design 3, 6, 11). */
import { type Static, Type } from 'typebox';
import { certificate, challengeId, ciphertext, hostId, proof, publicKey, time, word } from './text-kinds.ts';

export const challengeBody = Type.Object({
  host: hostId(),
  /** What the answer is to prove the pinned key for. */
  purpose: Type.Literal('certificate'),
});
export type ChallengeBody = Static<typeof challengeBody>;

export const challengeAnswer = Type.Object({
  /** The same for a host that is on no roll: only the pinned key tells. */
  challenge: Type.Object({ id: challengeId(), purpose: word(), enc: publicKey(), ct: ciphertext() }),
});
export type ChallengeAnswer = Static<typeof challengeAnswer>;

export const certificateBody = Type.Object({
  host: hostId(),
  /** Of the challenge that is answered. */
  id: challengeId(),
  answer: proof(),
  /** PKCS #10 DER. */
  csr: certificate(),
  use: Type.Union([Type.Literal('client'), Type.Literal('listener')]),
  /** By the clock of the host: it gets none that this clock would reject. */
  sentAt: time(),
});
export type CertificateBody = Static<typeof certificateBody>;

/** DER in base64url, leaf first, without the root. */
export const certificateChain = Type.Array(certificate(), { minItems: 1 });

export const certificateAnswer = Type.Object({ certificate: certificateChain });
export type CertificateAnswer = Static<typeof certificateAnswer>;
