/** What a peer presented in a TLS handshake, as it sent it. */
import type { TLSSocket } from 'node:tls';

/** DER, leaf first; empty where there was no certificate. */
export function presentedChain(socket: Pick<TLSSocket, 'getPeerCertificate'>): readonly Uint8Array[] {
  const chain: Uint8Array[] = [];
  const seen = new Set<unknown>();
  let certificate = socket.getPeerCertificate(true);
  // A root names itself as its issuer; no certificate at all is an empty object.
  while (certificate?.raw !== undefined && !seen.has(certificate)) {
    seen.add(certificate);
    chain.push(Uint8Array.from(certificate.raw));
    certificate = certificate.issuerCertificate;
  }
  return chain;
}
