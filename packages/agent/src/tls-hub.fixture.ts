/** For tests: TLS servers on loopback that are the hub, or say they are, and what reached them. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { PeerTrust } from '@rollcall/core/ports';
import {
  type Authority,
  createAuthority,
  encodeCertificatePem,
  hubId,
  issueCertificate,
  spkiSha256,
} from '@rollcall/x509';
import { random, trustDomain } from './fleet.fixture.ts';

const DAY_MS = 86_400_000;

export function generateKeyPair(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

/** Made yesterday, good for ten days. */
export function makeAuthority(domain = trustDomain): Authority {
  return createAuthority({
    trustDomain: domain,
    commonName: 'Fleet root',
    generateKeyPair,
    random,
    nowMs: Date.now() - 3 * DAY_MS,
    lifeMs: 10 * DAY_MS,
  });
}

export interface HubCertificate {
  readonly cert: string;
  readonly key: string;
  readonly spki: Uint8Array;
}

export function issueHubCertificate(
  authority: Authority,
  changes: { readonly uri?: string; readonly issuedAtMs?: number; readonly lifeMs?: number } = {},
): HubCertificate {
  const { uri = hubId(authority.trustDomain), issuedAtMs = Date.now(), lifeMs = DAY_MS } = changes;
  const { publicKey, privateKey } = generateKeyPair();
  const { certificateDer, certificatePem } = issueCertificate({
    authority,
    subjectPublicKey: publicKey,
    commonName: 'hub',
    uri,
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usage: 'serverAuth',
    nowMs: issuedAtMs,
    lifeMs,
    random,
  });
  return {
    cert: `${certificatePem}${encodeCertificatePem(authority.certificateDer)}`,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
    spki: spkiSha256(certificateDer),
  };
}

/** Expired an hour ago. */
export function issueExpiredHubCertificate(authority: Authority): HubCertificate {
  return issueHubCertificate(authority, { issuedAtMs: Date.now() - 2 * DAY_MS, lifeMs: 2 * DAY_MS - 3_600_000 });
}

export function chainTrust(authority: Authority, knownSpki: readonly Uint8Array[] = []): PeerTrust {
  return { kind: 'chain', trustDomain: authority.trustDomain, roots: [authority.certificateDer], knownSpki };
}

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveHub(
  certificate: HubCertificate,
  handle: RequestListener,
): Promise<Listening & { readonly server: Server }> {
  const server = createHttpsServer({ cert: certificate.cert, key: certificate.key, minVersion: 'TLSv1.3' }, handle);
  return { server, ...(await listen(server, () => server.closeAllConnections())) };
}

/** Speaks TLS alone, and keeps every byte that comes after the handshake. */
export async function servePlainTls(
  certificate: HubCertificate,
): Promise<Listening & { readonly received: () => number; readonly connections: () => number }> {
  let received = 0;
  let connections = 0;
  const server = createTlsServer({ cert: certificate.cert, key: certificate.key }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.length;
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.on('tlsClientError', () => undefined);
  return { received: () => received, connections: () => connections, ...(await listen(server)) };
}

export async function listen(
  server: {
    listen(port: number, host: string, done: () => void): unknown;
    address(): unknown;
    close(done: () => void): unknown;
  },
  before: () => void = () => undefined,
): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    close: async () => {
      before();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
