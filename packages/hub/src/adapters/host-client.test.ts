import { createPublicKey } from 'node:crypto';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { decodeBase64url } from '@rollcall/core/bytes';
import { encodeCertificatePem, issueCertificate, listenerId } from '@rollcall/x509';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Asked, certify, newRequest, proofBody } from '../certificate.fixture.ts';
import { enrolNew, type TestHost } from '../host.fixture.ts';
import { createTestHub, DAY_MS, operator, type TestHub } from '../hub.fixture.ts';
import { reenrolHost } from '../operations/add-host.ts';
import { evictHost } from '../operations/end-host.ts';
import { suspendHost } from '../operations/suspend-host.ts';
import { createSystemClock } from './clock.ts';
import { createHostClient, type HostClient, type HostRequest } from './host-client.ts';

const clock = createSystemClock();

let hub: TestHub;
let client: HostClient;
let host: TestHost;
let asked: Asked;
beforeEach(async () => {
  hub = await createTestHub();
  client = createHostClient(hub, clock, { connectTimeoutMs: 1_000, hostAnswerTimeoutMs: 1_000 });
  host = await enrolNew(hub, 'agent-7');
  asked = newRequest();
});

interface Served {
  readonly address: string;
  /** Bytes of HTTP that came, whatever they were. */
  readonly requests: { readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
}

async function certificateOf(of: TestHost, { csr }: Asked): Promise<string> {
  const { certificate } = await certify(hub, proofBody(hub, of, csr));
  return encodeCertificatePem(decodeBase64url(certificate[0] ?? '') as Uint8Array);
}

async function serve(cert: string, { privateKey }: Asked, answer?: RequestListener): Promise<Served> {
  const requests: Served['requests'] = [];
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' });
  const server = createHttpsServer({ cert, key, minVersion: 'TLSv1.3' }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      requests.push({ url: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString() });
      if (answer === undefined) response.writeHead(200).end('hello');
      else answer(request, response);
    });
  });
  return { address: await listen(server), requests };
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ask = (address: string, changes: Partial<HostRequest> = {}) =>
  client.request({
    host: 'agent-7',
    address,
    method: 'GET',
    path: '/v1/host',
    headers: { authorization: 'Bearer rcc_secret' },
    ...changes,
  });

function refused(code: string, details: object = {}): unknown {
  return expect.objectContaining({ code, details: expect.objectContaining(details) as unknown });
}

describe('the hub as a client', () => {
  it('asks the listener of the host, and brings the answer of whatever status', async () => {
    const served = await serve(await certificateOf(host, asked), asked, (request, response) => {
      response.writeHead(request.url === '/v1/host' ? 200 : 401).end('hello');
    });
    expect(await ask(served.address)).toEqual({ status: 200, body: Uint8Array.from(Buffer.from('hello')) });
    const body = new TextEncoder().encode('x');
    expect((await ask(served.address, { method: 'POST', path: '/other', body })).status).toBe(401);
    expect(served.requests).toMatchObject([
      { url: '/v1/host', headers: { authorization: 'Bearer rcc_secret', connection: 'close' } },
      { url: '/other', body: 'x' },
    ]);
  });

  it('follows no redirect', async () => {
    const other = await serve(await certificateOf(host, asked), asked);
    const served = await serve(await certificateOf(host, asked), asked, (_request, response) =>
      response.writeHead(302, { location: `https://${other.address}/` }).end(),
    );
    expect((await ask(served.address)).status).toBe(302);
    expect(other.requests).toEqual([]);
  });
});

describe('nothing is sent to', () => {
  it('another host at the address of this one', async () => {
    const twelve = await enrolNew(hub, 'agent-12');
    const served = await serve(await certificateOf(twelve, asked), asked);
    await expect(ask(served.address)).rejects.toEqual(refused('listener_untrusted', { reason: 'other_id' }));
    expect(served.requests).toEqual([]);
    expect((await ask(served.address, { host: 'agent-12' })).status).toBe(200);
  });

  it.each<[string, string, Partial<Parameters<typeof issueCertificate>[0]>]>([
    ['the hub itself', 'other_id', { uri: 'spiffe://fleet.example/hub' }],
    ['the host as a caller', 'other_id', { uri: 'spiffe://fleet.example/host/agent-7' }],
    ['a certificate to call with', 'extended_key_usage', { usage: 'clientAuth' }],
    ['a certificate that has ended', 'dates', { lifeMs: 1_000 }],
    ['a certificate that the hub has not on record', 'not_on_record', {}],
  ])('%s', async (_what, reason, changes) => {
    const { certificatePem } = issueCertificate({
      authority: hub.authority,
      commonName: 'agent-7',
      uri: listenerId('fleet.example', 'agent-7'),
      usage: 'serverAuth',
      nowMs: hub.wall.now(),
      lifeMs: DAY_MS,
      random: hub.random,
      ...changes,
      ...publicOf(asked),
    });
    await hub.wall.advance(2_000);
    const served = await serve(certificatePem, asked);
    await expect(ask(served.address)).rejects.toEqual(refused('listener_untrusted', { reason }));
    expect(served.requests).toEqual([]);
  });

  it('a listener of another authority, of however good a name', async () => {
    const other = await createTestHub();
    const { certificatePem } = issueCertificate({
      authority: other.authority,
      ...publicOf(asked),
      commonName: 'agent-7',
      uri: listenerId('fleet.example', 'agent-7'),
      usage: 'serverAuth',
      nowMs: hub.wall.now(),
      lifeMs: DAY_MS,
      random: hub.random,
    });
    const served = await serve(certificatePem, asked);
    await expect(ask(served.address)).rejects.toEqual(refused('listener_untrusted', { reason: 'unknown_issuer' }));
    expect(served.requests).toEqual([]);
  });

  it('yesterday’s disk of a host that has begun anew', async () => {
    const served = await serve(await certificateOf(host, asked), asked);
    expect((await ask(served.address)).status).toBe(200);
    const { token = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    await host.enrol(hub, token);
    await expect(ask(served.address)).rejects.toEqual(refused('listener_untrusted', { reason: 'former_life' }));
    const renewed = newRequest();
    const present = await serve(await certificateOf(host, renewed), renewed);
    expect((await ask(present.address)).status).toBe(200);
  });

  it.each<[string, string, () => Promise<unknown>]>([
    ['a suspended host', 'host_not_active', () => suspendHost(hub, 'agent-7', operator)],
    ['an evicted host', 'not_on_record', () => evictHost(hub, 'agent-7', false, operator)],
  ])('%s', async (_what, reason, end) => {
    const served = await serve(await certificateOf(host, asked), asked);
    expect((await ask(served.address)).status).toBe(200);
    await end();
    await expect(ask(served.address)).rejects.toEqual(refused('listener_untrusted', { reason }));
    expect(served.requests).toHaveLength(1);
  });

  it('a listener whose records cannot be read', async () => {
    const served = await serve(await certificateOf(host, asked), asked);
    hub.tamper(`update certificates set life = life + 1`);
    await expect(ask(served.address)).rejects.toEqual(refused('store_unreadable'));
    expect(served.requests).toEqual([]);
  });

  it('TLS 1.2', async () => {
    const key = asked.privateKey.export({ format: 'pem', type: 'pkcs8' });
    const cert = await certificateOf(host, asked);
    const server = createTlsServer({ cert, key, maxVersion: 'TLSv1.2' });
    server.on('tlsClientError', () => undefined);
    await expect(ask(await listen(server))).rejects.toEqual(refused('listener_unreachable'));
  });
});

describe('bounds', () => {
  it('nobody there', async () => {
    const server = createTcpServer();
    const address = await listen(server);
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await expect(ask(address)).rejects.toEqual(refused('listener_unreachable', { cause: 'ECONNREFUSED' }));
  });

  it('a peer that says nothing, and one that hangs up', async () => {
    const silent = await listen(createTcpServer((socket) => socket.on('error', () => undefined)));
    await expect(ask(silent)).rejects.toEqual(refused('listener_timeout', { phase: 'connect' }));
    const rude = await listen(createTcpServer((socket) => socket.destroy()));
    await expect(ask(rude)).rejects.toEqual(refused('listener_unreachable'));
  });

  it('an answer that never ends, drips, is too large, or is none', async () => {
    const cert = await certificateOf(host, asked);
    const never = await serve(cert, asked, () => undefined);
    await expect(ask(never.address)).rejects.toEqual(refused('listener_timeout', { phase: 'answer' }));
    const drips = await serve(cert, asked, (_request, response) => {
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => clearInterval(drip));
    });
    await expect(ask(drips.address)).rejects.toEqual(refused('listener_timeout', { phase: 'answer' }));
    const large = await serve(cert, asked, (_request, response) => response.end('x'.repeat(70_000)));
    await expect(ask(large.address)).rejects.toEqual(refused('listener_answer_unusable', { reason: 'too large' }));
    const heads = await serve(cert, asked, (_request, response) =>
      response.writeHead(200, { 'x-much': 'x'.repeat(20_000) }).end(),
    );
    await expect(ask(heads.address)).rejects.toEqual(refused('listener_answer_unusable'));
    const key = asked.privateKey.export({ format: 'pem', type: 'pkcs8' });
    const none = await listen(
      createTlsServer({ cert, key, minVersion: 'TLSv1.3' }, (socket) => {
        socket.on('error', () => undefined);
        socket.end('220 mail.example ESMTP\r\n');
      }),
    );
    await expect(ask(none)).rejects.toEqual(refused('listener_answer_unusable'));
  });

  it('an address that is none', async () => {
    await expect(ask('agent-7')).rejects.toEqual(refused('malformed_address'));
  });
});

function publicOf({ privateKey }: Asked) {
  return { subjectPublicKey: createPublicKey(privateKey) };
}
