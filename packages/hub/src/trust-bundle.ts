/** The fleet's authorities as a SPIFFE bundle (design 6). */
import { X509Certificate } from 'node:crypto';
import type { TrustBundle } from '@rollcall/wire';

const REFRESH_SECONDS = 300;

export function toTrustBundle(certificateDer: Uint8Array): TrustBundle {
  const der = Buffer.from(certificateDer);
  const { crv, x, y } = new X509Certificate(der).publicKey.export({ format: 'jwk' });
  return {
    keys: [
      {
        kty: 'EC',
        crv: String(crv),
        x: String(x),
        y: String(y),
        use: 'x509-svid',
        x5c: [der.toString('base64')],
      },
    ],
    spiffe_sequence: 1,
    spiffe_refresh_hint: REFRESH_SECONDS,
  };
}
