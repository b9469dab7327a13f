/** A server that says it is the hub: the right names in its certificate, signed by an authority of its own. */
import type { KeyObject } from 'node:crypto';
import { createServer } from 'node:https';
import type { Clock, Random } from '@rollcall/core/ports';
import type { Envelope } from '@rollcall/core/seal';
import { createAuthority, hubId, issueCertificate, type KeyPairPort } from '@rollcall/x509';

export interface Impostor {
  readonly port: number;
  counts(): { readonly connections: number; readonly requests: number };
}

const DAY_MS = 86_400_000;

/** Answers every request as a hub answers a beat, with this one delivery. */
export async function openImpostor(at: {
  readonly trustDomain: string;
  readonly envelope: Envelope;
  readonly generateKeyPair: KeyPairPort;
  readonly random: Random;
  readonly clock: Clock;
}): Promise<Impostor> {
  const { certificate, key } = forge(at);
  let connections = 0;
  let requests = 0;
  const answer = JSON.stringify({
    time: new Date(at.clock.now()).toISOString(),
    nextBeatMs: 200,
    pin: { state: 'pinned', fingerprint: at.envelope.recipient },
    deliveries: [at.envelope],
    statements: [],
  });
  const server = createServer({ cert: certificate, key, minVersion: 'TLSv1.3' }, (request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.on('tlsClientError', () => undefined);
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  return { port, counts: () => ({ connections, requests }) };
}

function forge(at: {
  readonly trustDomain: string;
  readonly generateKeyPair: KeyPairPort;
  readonly random: Random;
  readonly clock: Clock;
}): { certificate: string; key: string } {
  const { trustDomain, generateKeyPair, random, clock } = at;
  const nowMs = clock.now();
  const authority = createAuthority({
    trustDomain,
    commonName: `${trustDomain} fleet authority`,
    generateKeyPair,
    random,
    nowMs,
    lifeMs: DAY_MS,
  });
  const pair: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPair();
  const { certificatePem } = issueCertificate({
    authority,
    subjectPublicKey: pair.publicKey,
    commonName: 'hub',
    uri: hubId(trustDomain),
    dnsNames: [],
    ipAddresses: ['127.0.0.1'],
    usage: 'serverAuth',
    nowMs,
    lifeMs: DAY_MS,
    random,
  });
  return { certificate: certificatePem, key: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
}
