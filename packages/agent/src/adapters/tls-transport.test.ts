import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { utf8 } from '@rollcall/core/bytes';
import type { Log, PeerTrust, TransportRequest } from '@rollcall/core/ports';
import { hubId } from '@rollcall/x509';
import { afterEach, describe, expect, it } from 'vitest';
import {
  chainTrust,
  type HubCertificate,
  issueExpiredHubCertificate,
  issueHubCertificate,
  type Listening,
  listen,
  makeAuthority,
  serveHub,
  servePlainTls,
} from '../tls-hub.fixture.ts';
import { createSystemClock } from './system-clock.ts';
import { createTlsTransport, type TlsTransport } from './tls-transport.ts';

const authority = makeAuthority();
const hub = issueHubCertificate(authority);
const warnings: string[] = [];
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message) => void warnings.push(message),
  error: () => undefined,
};
const timeouts = { connectTimeoutMs: 300, answerTimeoutMs: 300 };

const open: { close(): unknown }[] = [];

afterEach(async () => {
  warnings.length = 0;
  for (const { close } of open.splice(0).reverse()) await close();
});

function keep<T extends { close(): unknown }>(opened: T): T {
  open.push(opened);
  return opened;
}

function transport(): TlsTransport {
  return keep(createTlsTransport({ clock: createSystemClock(), log }, timeouts));
}

function heartbeat(url: string, judge: PeerTrust): TransportRequest {
  const headers = { authorization: 'Bearer rcb_secret', 'content-type': 'application/json' };
  return { url, method: 'POST', path: '/v1/heartbeat', headers, body: utf8('{"seq":1}'), judge };
}

async function answering(
  certificate: HubCertificate = hub,
): Promise<Listening & { readonly seen: string[]; readonly sockets: Set<Socket> }> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const served = await serveHub(certificate, (asked, answer) => {
    let body = '';
    sockets.add(asked.socket);
    asked.on('data', (bytes: Buffer) => {
      body += bytes.toString();
    });
    asked.on('end', () => {
      seen.push(`${asked.method} ${asked.url} ${asked.headers.authorization} ${body}`);
      answer.writeHead(200, { 'x-served-by': 'hub' });
      answer.end('{"ok":true}');
    });
  });
  return keep({ ...served, seen, sockets });
}

describe('a request to the hub', () => {
  it('is answered when the peer proves to be the hub', async () => {
    const server = await answering();
    const answer = await transport().request(heartbeat(server.url, chainTrust(authority)));
    expect(answer).toMatchObject({ status: 200, headers: { 'x-served-by': 'hub' }, body: utf8('{"ok":true}') });
    expect(server.seen).toEqual(['POST /v1/heartbeat Bearer rcb_secret {"seq":1}']);
    expect(warnings).toEqual([]);
  });

  it('is answered at first contact by the key that was handed over', async () => {
    const server = await answering();
    const answer = await transport().request(
      heartbeat(server.url, { kind: 'spki', spki: [new Uint8Array(32), hub.spki] }),
    );
    expect(answer.status).toBe(200);
  });

  it('keeps its connection, and makes another one when it is to be judged by another trust', async () => {
    const server = await answering();
    const agent = transport();
    for (let at = 0; at < 3; at += 1) await agent.request(heartbeat(server.url, chainTrust(authority)));
    expect(server.sockets.size).toBe(1);
    await agent.request(heartbeat(server.url, chainTrust(authority, [hub.spki])));
    expect(server.sockets.size).toBe(2);
    await expect(agent.request(heartbeat(server.url, chainTrust(makeAuthority())))).rejects.toMatchObject({
      code: 'hub_untrusted',
    });
    expect(server.seen).toHaveLength(4);
  });

  it('knows the hub by its key when its certificate has expired, for the dates alone, and says so', async () => {
    const expired = issueExpiredHubCertificate(authority);
    const server = await answering(expired);
    await expect(transport().request(heartbeat(server.url, chainTrust(authority)))).rejects.toMatchObject({
      details: { reason: 'dates' },
    });
    expect(server.seen).toEqual([]);
    expect((await transport().request(heartbeat(server.url, chainTrust(authority, [expired.spki])))).status).toBe(200);
    expect(warnings).toHaveLength(1);
  });
});

describe('a peer that is not the hub', () => {
  const strangers = makeAuthority();
  const impostors: readonly (readonly [string, HubCertificate, PeerTrust, string])[] = [
    [
      'holds another key at first contact',
      issueHubCertificate(authority),
      { kind: 'spki', spki: [hub.spki] },
      'other_key',
    ],
    ['was certified by someone else', issueHubCertificate(strangers), chainTrust(authority), 'unknown_issuer'],
    [
      'is a host of the fleet',
      issueHubCertificate(authority, { uri: 'spiffe://fleet.example/host/agent-8/listener' }),
      chainTrust(authority),
      'not_the_hub',
    ],
    [
      'holds a known key under a strange certificate',
      hubKeyUnder(strangers),
      chainTrust(authority, [strangerSpki()]),
      'unknown_issuer',
    ],
  ];

  it.each(impostors)('that %s sees not one byte', async (_what, certificate, judge, reason) => {
    const impostor = keep(await servePlainTls(certificate));
    await expect(transport().request(heartbeat(impostor.url, judge))).rejects.toMatchObject({
      code: 'hub_untrusted',
      details: { reason },
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(impostor.connections()).toBe(1);
    expect(impostor.received()).toBe(0);
  });

  it('is told apart from one that is, by the same server', async () => {
    const real = keep(await servePlainTls(hub));
    await expect(transport().request(heartbeat(real.url, chainTrust(authority)))).rejects.toMatchObject({
      code: 'hub_timeout',
    });
    expect(real.received()).toBeGreaterThan(100);
  });

  it('is not spoken to in TLS 1.2', async () => {
    const server = createTlsServer({ cert: hub.cert, key: hub.key, maxVersion: 'TLSv1.2' });
    server.on('tlsClientError', () => undefined);
    const old = keep(await listen(server));
    await expect(transport().request(heartbeat(old.url, chainTrust(authority)))).rejects.toMatchObject({
      code: 'hub_unreachable',
    });
  });
});

let known: HubCertificate | undefined;

function hubKeyUnder(issuer: ReturnType<typeof makeAuthority>): HubCertificate {
  known ??= issueHubCertificate(issuer, { uri: hubId(issuer.trustDomain) });
  return known;
}

function strangerSpki(): Uint8Array {
  return (known as HubCertificate).spki;
}

describe('a hub that does not answer as it should', () => {
  it.each<readonly [string, (socket: Socket) => void, string]>([
    ['accepts and says nothing', () => undefined, 'hub_timeout'],
    ['resets before the handshake', (socket) => socket.resetAndDestroy(), 'hub_unreachable'],
    ['speaks something else', (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n'), 'hub_unreachable'],
  ])('fails in time when it %s', async (_what, act, code) => {
    const sockets = new Set<Socket>();
    const server = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      act(socket);
    });
    const listening = keep(await listen(server, () => sockets.forEach((socket) => void socket.destroy())));
    await expect(transport().request(heartbeat(listening.url, chainTrust(authority)))).rejects.toMatchObject({ code });
  });

  it('fails in time when nothing listens', async () => {
    const listening = await listen(createTcpServer());
    await listening.close();
    await expect(transport().request(heartbeat(listening.url, chainTrust(authority)))).rejects.toMatchObject({
      code: 'hub_unreachable',
      details: { cause: 'ECONNREFUSED' },
    });
  });

  it('fails in time when the answer drips for ever', async () => {
    const server = keep(
      await serveHub(hub, (_asked, answer) => {
        answer.writeHead(200);
        const timer = setInterval(() => answer.write(' '), 20);
        answer.on('close', () => clearInterval(timer));
      }),
    );
    await expect(transport().request(heartbeat(server.url, chainTrust(authority)))).rejects.toMatchObject({
      code: 'hub_timeout',
    });
  });

  it('is not read beyond the limit', async () => {
    const server = keep(await serveHub(hub, (_asked, answer) => void answer.end(Buffer.alloc(2 * 1024 * 1024))));
    await expect(transport().request(heartbeat(server.url, chainTrust(authority)))).rejects.toMatchObject({
      code: 'hub_answer_unusable',
    });
  });

  it('is not read when its headers are beyond the limit', async () => {
    const server = keep(
      await serveHub(hub, (_asked, answer) => void answer.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end()),
    );
    await expect(transport().request(heartbeat(server.url, chainTrust(authority)))).rejects.toMatchObject({
      code: 'hub_answer_unusable',
    });
  });

  it('is not followed elsewhere', async () => {
    const other = await answering();
    const server = keep(
      await serveHub(
        hub,
        (_asked, answer) => void answer.writeHead(307, { location: `${other.url}/v1/heartbeat` }).end(),
      ),
    );
    expect((await transport().request(heartbeat(server.url, chainTrust(authority)))).status).toBe(307);
    expect(other.seen).toEqual([]);
  });

  it('is let go of when the agent stops', async () => {
    const server = keep(await serveHub(hub, () => undefined));
    const stopping = new AbortController();
    const asked = transport().request(heartbeat(server.url, chainTrust(authority)), stopping.signal);
    setTimeout(() => stopping.abort(), 50);
    await expect(asked).rejects.toMatchObject({ code: 'hub_unreachable', details: { cause: 'ABORT_ERR' } });
  });
});
