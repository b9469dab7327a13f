/** A new key for this host's listener, and the request that asks for its certificate. */
import { generateKeyPairSync } from 'node:crypto';
import { SecretBytes } from '@rollcall/core/keys';
import { createCertificateRequest } from '@rollcall/x509';
import type { AskedCertificate } from '../state/listener-keys.ts';

export function makeListenerRequest(host: string): AskedCertificate {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' });
  return {
    privateKey: new SecretBytes('listener-private', Uint8Array.from(pkcs8)),
    csr: createCertificateRequest(privateKey, host),
  };
}
