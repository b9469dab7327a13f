/** `POST /v1/enrol` and `GET /v1/trust-bundle` (design 3, 6, 11). */
import { type Static, Type } from 'typebox';
import { certificateChain } from './certificates.ts';
import { count, envelope } from './heartbeat.ts';
import { certificate, hostId, instance, networkAddress, proof, publicKey, word } from './text-kinds.ts';

export const enrolBody = Type.Object({
  host: hostId(),
  wrapKey: Type.Object({ suite: word(), public: publicKey() }),
  csr: Type.Optional(certificate()),
  use: Type.Optional(Type.Union([Type.Literal('client'), Type.Literal('listener')])),
  instance: instance(),
  proof: proof(),
});
export type EnrolBody = Static<typeof enrolBody>;

/** A SPIFFE bundle: JWKS with one `x509-svid` key per authority. */
export const trustBundle = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.Literal('EC'),
      crv: word(),
      x: publicKey(),
      y: publicKey(),
      use: Type.Literal('x509-svid'),
      /** DER, standard base64 (RFC 7517 §4.7). */
      x5c: Type.Array(certificate(), { minItems: 1, maxItems: 1 }),
    }),
    { minItems: 1 },
  ),
  spiffe_sequence: count(1),
  spiffe_refresh_hint: count(1),
});
export type TrustBundle = Static<typeof trustBundle>;

export const enrolAnswer = Type.Object({
  trustDomain: networkAddress(),
  bundle: trustBundle,
  deliveries: Type.Array(envelope),
  /** Where one was asked for, and could be issued. */
  certificate: Type.Optional(certificateChain),
});
export type EnrolAnswer = Static<typeof enrolAnswer>;
