/** For tests of listeners over TLS: a certificate of an authority that nobody has to know. */
import { generateKeyPairSync } from 'node:crypto';
import { seededRandom } from '@rollcall/core/testing';
import { createAuthority } from '@rollcall/x509';
import { DAY_MS, START_MS } from '../hub.fixture.ts';
import type { FleetTls } from './fleet-listener.ts';

export function createTestTls(): FleetTls {
  const authority = createAuthority({
    trustDomain: 'fleet.example',
    commonName: 'test',
    generateKeyPair: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    random: seededRandom('tls'),
    nowMs: START_MS,
    lifeMs: DAY_MS,
  });
  const key = authority.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return { certificate: authority.certificatePem, key };
}
