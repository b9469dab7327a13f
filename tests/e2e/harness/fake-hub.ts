/**
 * A hub under the test's hand, with every key that a hub has, so that a real agent believes it: it delivers what the
 * test says, replays, lies, hangs, resets. Built from core and x509 alone; nothing of the real hub's code is in it.
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { JsonValue } from '@rollcall/core/json';
import {
  deriveHostKeys,
  encodeEnrolmentToken,
  encodeHubRootFile,
  type HubRootFile,
  SecretBytes,
} from '@rollcall/core/keys';
import {
  type Assignment,
  createHubKey,
  createHubRoot,
  type Envelope,
  type HubKey,
  parseWrapPublicKey,
  sealDelivery,
  type WrapPublicKey,
} from '@rollcall/core/seal';
import type { EnrolBody, HeartbeatBody } from '@rollcall/wire';
import { createAuthority, hubId, issueCertificate } from '@rollcall/x509';
import { freePort } from './fleet.ts';
import { random } from './raw-host.ts';

/** What to do with a heartbeat: answer it, or misbehave over the open connection. */
export type Behave = (beat: HeardBeat, response: ServerResponse, request: IncomingMessage) => void;

export interface HeardBeat {
  readonly host: string;
  readonly bearer: string;
  readonly body: HeartbeatBody;
  /** Monotonic, of this process. */
  readonly atMs: number;
}

export interface FakeHub {
  readonly url: string;
  readonly trust: HubRootFile;
  readonly hubKey: HubKey;
  /** Signed by a root that nobody pinned. */
  readonly strangeKey: HubKey;
  readonly enrolmentToken: (host: string) => string;
  readonly hubRootFile: () => string;
  /** Every heartbeat that arrived, oldest first. */
  readonly heard: HeardBeat[];
  behave: Behave;
  /** The key that the host showed when it enrolled or beat last. */
  readonly wrapKeyOf: (host: string) => WrapPublicKey;
  readonly seal: (host: string, assignment: AssignmentWish, hubKey?: HubKey, as?: string) => Envelope;
  /** Ends the connection by a TCP reset. */
  readonly reset: (response: ServerResponse) => void;
  readonly close: () => Promise<void>;
}

export interface AssignmentWish {
  readonly epoch: number;
  readonly step: number;
  readonly versions: readonly number[];
  readonly present: number;
}

export function answerBeat(response: ServerResponse, deliveries: readonly JsonValue[] = [], nextBeatMs = 150): void {
  const body = { time: new Date().toISOString(), nextBeatMs, pin: { state: 'pinned' }, deliveries, statements: [] };
  send(response, 200, body);
}

export async function createFakeHub(): Promise<FakeHub> {
  const trustDomain = 'fake.test';
  const generateKeyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuing = { generateKeyPair, random, nowMs: Date.now(), lifeMs: 3_600_000 };
  const authority = createAuthority({ trustDomain, commonName: 'fake', ...issuing });
  const { publicKey, privateKey } = generateKeyPair();
  const certificate = issueCertificate({
    authority,
    subjectPublicKey: publicKey,
    commonName: 'hub',
    uri: hubId(trustDomain),
    ipAddresses: ['127.0.0.1'],
    usage: 'serverAuth',
    ...issuing,
  });
  const root = createHubRoot(random);
  const hubKey = createHubKey(random, root, 1);
  const spki = createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest();
  const url = `https://127.0.0.1:${await freePort()}`;
  const trust: HubRootFile = { trustDomain, root: root.public, spki: [Uint8Array.from(spki)], hubs: [url] };
  const bundle = bundleOf(authority.certificateDer);
  const wrapKeys = new Map<string, WrapPublicKey>();
  const sockets = new Map<number, Socket>();

  const fake: FakeHub = {
    url,
    trust,
    hubKey,
    strangeKey: createHubKey(random, createHubRoot(random), 1),
    enrolmentToken: (host) => {
      const secret = new SecretBytes('enrolment', random(32));
      return encodeEnrolmentToken({ ...trust, host, secret, expiresAtMs: Date.now() + 600_000 });
    },
    hubRootFile: () => encodeHubRootFile(trust),
    heard: [],
    behave: (_beat, response) => answerBeat(response),
    wrapKeyOf: (host) => {
      const key = wrapKeys.get(host);
      if (key === undefined) throw new Error(`${host} has shown no key`);
      return key;
    },
    seal: (host, wish, signer = hubKey, as = host) =>
      sealDelivery({
        host: as,
        assignment: toAssignment(host, wish),
        recipient: fake.wrapKeyOf(host),
        hubKey: signer,
        random,
      }),
    reset: (response) => sockets.get(response.socket?.remotePort ?? 0)?.resetAndDestroy(),
    close: () => closeServer(server),
  };

  const server = createServer(
    {
      key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
      cert: certificate.certificatePem,
      minVersion: 'TLSv1.3',
    },
    (request, response) => {
      const atMs = performance.now();
      readBody(request).then(
        (text) => serve(fake, { request, response, text, atMs, bundle, wrapKeys }),
        () => response.destroy(),
      );
    },
  );
  // Below TLS: a TLS socket cannot be reset.
  server.on('connection', (socket: Socket) => sockets.set(socket.remotePort ?? 0, socket));
  await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), '127.0.0.1', resolve));
  return fake;
}

interface Served {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly text: string;
  readonly atMs: number;
  readonly bundle: JsonValue;
  readonly wrapKeys: Map<string, WrapPublicKey>;
}

function serve(fake: FakeHub, { request, response, text, atMs, bundle, wrapKeys }: Served): void {
  if (request.url === '/v1/trust-bundle') {
    send(response, 200, bundle);
    return;
  }
  if (request.url === '/v1/enrol') {
    const body = JSON.parse(text) as EnrolBody;
    wrapKeys.set(body.host, parseWrapPublicKey(body.wrapKey));
    const first = fake.seal(body.host, { epoch: 1, step: 1, versions: [1], present: 1 });
    send(response, 200, {
      trustDomain: fake.trust.trustDomain,
      bundle,
      deliveries: [first as unknown as JsonValue],
    });
    return;
  }
  const body = JSON.parse(text) as HeartbeatBody;
  const host = String(request.headers['x-rollcall-host']);
  if (body.wrapKey !== undefined) wrapKeys.set(host, parseWrapPublicKey(body.wrapKey));
  const beat = { host, bearer: String(request.headers.authorization), body, atMs };
  fake.heard.push(beat);
  fake.behave(beat, response, request);
}

/** Masters are made up from their versions: only the test needs to know them. */
export function fakeMaster(version: number): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(`fake master ${version}`).digest());
}

function toAssignment(host: string, { epoch, step, versions, present }: AssignmentWish): Assignment {
  const accept = versions.map((version) => {
    const keys = deriveHostKeys({ version, master: fakeMaster(version) }, host, 1);
    const sealed = Object.entries(keys).map(([purpose, key]) => [purpose, new SecretBytes('host-key', key)] as const);
    return { version, value: { life: 1, keys: Object.fromEntries(sealed) } };
  });
  return { secret: 'master', epoch, step, accept, present, issuedAt: new Date().toISOString() };
}

function bundleOf(certificateDer: Uint8Array): JsonValue {
  const key = {
    kty: 'EC',
    crv: 'P-256',
    x: '',
    y: '',
    use: 'x509-svid',
    x5c: [Buffer.from(certificateDer).toString('base64')],
  };
  return { keys: [key], spiffe_sequence: 1, spiffe_refresh_hint: 300 };
}

export function send(
  response: ServerResponse,
  status: number,
  body: JsonValue,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
