import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import { unauthenticatedBody } from '@rollcall/wire';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestHost, enrolNew, type TestHost } from '../host.fixture.ts';
import { createTestHub, operator, type TestHub } from '../hub.fixture.ts';
import { addHost } from '../operations/add-host.ts';
import { createSecret } from '../operations/create-secret.ts';
import { createFleetListener } from './fleet-listener.ts';
import { createTestTls } from './fleet-tls.fixture.ts';

const tls = createTestTls();

let hub: TestHub;
let host: TestHost;
let app: FastifyInstance;
let port: number;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
  app = createFleetListener(hub, tls, async () => [], '1.2.3');
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
});
afterEach(() => app.close());

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

function ask({ method = 'POST', path = '/v1/heartbeat', headers = {}, body = '' }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', port, method, path, headers, agent: false, rejectUnauthorized: false },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts).toString(),
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const json = { 'content-type': 'application/json' };
const credentials = () => ({ ...json, authorization: `Bearer ${host.bearer()}`, 'x-rollcall-host': 'agent-7' });

function beatBody(changes: Readonly<Record<string, unknown>> = {}): string {
  host.seq += 1;
  return JSON.stringify({
    instance: host.instance,
    seq: host.seq,
    held: { master: { epoch: 1, step: host.assignment?.step } },
    refused: [],
    agent: { version: '1.0.0' },
    startup: 'restored',
    sentAt: new Date(hub.wall.now()).toISOString(),
    ...changes,
  });
}

const beat = (body: string | Buffer = beatBody(), headers: Readonly<Record<string, string>> = credentials()) =>
  ask({ headers, body });
const codeOf = ({ body }: Answer) => (JSON.parse(body) as { code?: string }).code;
const results = () => Object.fromEntries(hub.counts.read('heartbeats'));

describe('a heartbeat', () => {
  it('is answered with the time, the next beat, the pin, what is due, and the statements', async () => {
    const { status, headers, body } = await beat();
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(Object.keys(JSON.parse(body) as object)).toEqual(['time', 'nextBeatMs', 'pin', 'deliveries', 'statements']);
    expect(results()).toEqual({ ok: 1 });
  });

  it('may hold what this version does not know', async () => {
    expect((await beat(beatBody({ capacity: { cpu: 4 }, later: [1, { deep: true }] }))).status).toBe(200);
  });

  it('in parts, and on one connection after another, is the same', async () => {
    const whole = beatBody();
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    const answers: string[] = [];
    socket.on('data', (chunk) => answers.push(chunk.toString()));
    const head = Object.entries({ host: 'hub', ...credentials(), 'content-length': String(whole.length) })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    for (const part of ['POST /v1/heartbeat HTTP/1.1\r\n', head, '\r\n', whole.slice(0, 50), whole.slice(50)]) {
      socket.write(part);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await expect.poll(() => answers.join('')).toContain('"statements"');
    const next = beatBody();
    socket.write(`POST /v1/heartbeat HTTP/1.1\r\n${head}\r\n${next}`);
    await expect.poll(() => answers.join('').split('HTTP/1.1 200 OK')).toHaveLength(3);
    socket.destroy();
  });

  it.each<[string, number, string, () => Promise<Answer>]>([
    ['no JSON', 400, 'malformed_json', () => beat('{')],
    ['nothing', 400, 'malformed_json', () => beat('')],
    ['a key twice', 400, 'malformed_json', () => beat(`${beatBody().slice(0, -1)},"seq":1}`)],
    [
      'bytes that are no UTF-8',
      400,
      'malformed_json',
      () => beat(Buffer.concat([Buffer.from(beatBody()), Buffer.of(0xff)])),
    ],
    ['a number as a text', 400, 'malformed_request', () => beat(beatBody({ seq: '1' }))],
    ['a field that is missing', 400, 'malformed_request', () => beat(beatBody({ held: undefined }))],
    ['an instance that is too short', 400, 'malformed_request', () => beat(beatBody({ instance: 'short' }))],
    [
      'another type',
      415,
      'unsupported_media_type',
      () => beat(beatBody(), { ...credentials(), 'content-type': 'text/plain' }),
    ],
    [
      'no type',
      415,
      'unsupported_media_type',
      () => beat(beatBody(), { authorization: credentials().authorization, 'x-rollcall-host': 'agent-7' }),
    ],
    ['more than it may be', 413, 'too_large', () => beat(beatBody({ pad: 'x'.repeat(limits.heartbeatBodyBytes) }))],
    [
      'more than it may be, without saying how much',
      413,
      'too_large',
      () =>
        beat(beatBody({ pad: 'x'.repeat(limits.heartbeatBodyBytes) }), {
          ...credentials(),
          'transfer-encoding': 'chunked',
        }),
    ],
    ['another host', 403, 'host_mismatch', () => beat(beatBody({ host: 'agent-8' }))],
  ])('that holds %s is answered %i %s, without a word of what was sent', async (_what, status, code, act) => {
    const answer = await act();
    expect([answer.status, codeOf(answer), answer.headers['content-type']]).toEqual([
      status,
      code,
      'application/problem+json; charset=utf-8',
    ]);
    expect(answer.body).not.toMatch(/short|xxx|agent-8/);
    expect(results()).toEqual({ [code]: 1 });
    expect((await beat()).status).toBe(200);
  });

  it('names where the body is not as it should be', async () => {
    const { body } = await beat(beatBody({ held: { master: { epoch: -1, step: 1 } } }));
    expect(JSON.parse(body)).toMatchObject({ code: 'malformed_request', details: { at: '/held/master/epoch' } });
  });

  it('of largest size is taken', async () => {
    const empty = beatBody({ pad: '' });
    const full = empty.replace('"pad":""', `"pad":"${'x'.repeat(limits.heartbeatBodyBytes - empty.length)}"`);
    expect(Buffer.byteLength(full)).toBe(limits.heartbeatBodyBytes);
    expect((await beat(full)).status).toBe(200);
  });

  it('with the shared token alone is answered to each host that is on no roll, however many there are', async () => {
    const token = 'the-token-that-the-fleet-has-had-for-years';
    await createSecret(hub, { name: 'fleet', value: encodeBase64url(utf8(token)), holders: ['all'] }, operator);
    const hosts = Array.from({ length: 2 * limits.beatInstancesPerHost }, (_, at) => ({
      headers: { ...json, 'x-node-token': token, 'x-rollcall-host': `unlisted-${at}` },
      instance: encodeBase64url(new Uint8Array(16).fill(at)),
    }));
    for (let round = 0; round < 2; round += 1) {
      const answers = await Promise.all(hosts.map(({ headers, instance }) => beat(beatBody({ instance }), headers)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    // The control: one of them that is mad is refused, and it alone.
    const [mad, other] = hosts;
    const flood = await Promise.all(
      Array.from({ length: 2 * limits.beatsBurst }, () => beat(beatBody({ instance: mad?.instance }), mad?.headers)),
    );
    expect(flood.map(({ status }) => status)).toContain(429);
    expect((await beat(beatBody({ instance: other?.instance }), other?.headers)).status).toBe(200);
  });
});

describe('a failed authentication', () => {
  it('is the same status, headers and bytes on every route, whatever was wrong', async () => {
    await addHost(hub, { host: 'invited' }, operator);
    const stranger = createTestHost('nobody');
    const { token = '' } = await addHost(hub, { host: 'token' }, operator);
    const enrolBody = JSON.stringify(
      Object.assign(createTestHost('token').enrolBody(token), { proof: 'A'.repeat(43) }),
    );
    const answers = await Promise.all([
      ask({ headers: json, body: beatBody() }),
      beat(beatBody(), { ...credentials(), authorization: 'Bearer rcb_wrong' }),
      beat(beatBody(), { ...credentials(), 'x-rollcall-host': stranger.id }),
      beat(beatBody(), { ...credentials(), 'x-rollcall-host': 'invited' }),
      beat(beatBody(), { ...credentials(), 'x-node-token': 'any' }),
      // Settled before the body: neither its size nor its form is told to a stranger.
      beat('{', { ...credentials(), authorization: 'Bearer rcb_wrong' }),
      beat(beatBody({ pad: 'x'.repeat(100_000) }), { ...credentials(), authorization: 'Bearer rcb_wrong' }),
      ask({ path: '/v1/enrol', headers: json, body: enrolBody }),
      ask({ path: '/v1/enrol', headers: json, body: enrolBody.replace('"token"', '"nobody"') }),
    ]);
    for (const { status, headers, body } of answers) {
      const { date: _date, ...rest } = headers;
      expect([status, body]).toEqual([401, unauthenticatedBody]);
      expect(rest).toEqual({
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(unauthenticatedBody.length),
        connection: 'close',
      });
    }
    expect((await beat()).status).toBe(200);
    expect(results()).toEqual({ refused: 7, ok: 1 });
  });

  it('is none while the hub cannot tell: 503, and to be tried again', async () => {
    hub.tamper('alter table trust_changes rename to away');
    const answer = await beat(beatBody(), { ...credentials(), authorization: 'Bearer rcb_wrong' });
    expect([answer.status, codeOf(answer), answer.headers['retry-after']]).toEqual([503, 'unavailable', '1']);
    expect((await beat()).status).toBe(200);
  });
});

describe('the listener', () => {
  it('answers other methods and paths by the routes of the table', async () => {
    expect((await ask({ method: 'GET' })).status).toBe(404);
    expect((await ask({ path: '/v1/heartbeat/' })).status).toBe(404);
    expect(await ask({ method: 'GET', path: '/version' })).toMatchObject({ status: 200, body: '{"version":"1.2.3"}' });
  });

  it('speaks TLS 1.3 and nothing older', async () => {
    const version = (maxVersion: 'TLSv1.2' | 'TLSv1.3') =>
      new Promise((resolve) => {
        const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion }, () => {
          resolve(socket.getProtocol());
          socket.destroy();
        });
        socket.on('error', () => resolve('refused'));
      });
    expect(await version('TLSv1.2')).toBe('refused');
    expect(await version('TLSv1.3')).toBe('TLSv1.3');
  });

  it('bounds how long a request may take, and keeps a connection longer than an interval', () => {
    const { requestTimeout, headersTimeout, keepAliveTimeout, maxConnections } = app.server;
    expect({ requestTimeout, headersTimeout, keepAliveTimeout, maxConnections }).toEqual({
      requestTimeout: limits.requestTimeoutMs,
      headersTimeout: limits.headersTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxConnections: limits.connections,
    });
    expect(limits.keepAliveMs).toBeGreaterThan(limits.beatMaxMs);
  });

  it('ends what is no HTTP with one short status, and headers that are too long with another', async () => {
    const send = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => socket.write(text));
        let answer = '';
        socket.on('data', (chunk) => {
          answer += chunk.toString();
        });
        socket.on('close', () => resolve(answer));
        socket.on('error', () => undefined);
      });
    expect(await send('\x16\x03 nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(await send(`POST /v1/heartbeat HTTP/1.1\r\nx: ${'y'.repeat(limits.headerBytes)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });

  it('says of an expectation that it cannot meet the same to everyone and everywhere, and looks at nothing else', async () => {
    const body = 'GET /healthz HTTP/1.1\r\nHost: smuggled\r\n\r\n';
    const expecting = (path: string, headers: Readonly<Record<string, string>>, expectation: string) =>
      talk([`POST ${path} HTTP/1.1`, ...linesOf(headers), expectation, `Content-Length: ${body.length}`], body);
    const before = [...hub.counts.read('auth')];
    const answers = new Set<string>();
    for (const path of ['/v1/heartbeat', '/v1/whoami', '/v1/enrol', '/v1/nothing', '/healthz']) {
      for (const headers of [json, credentials(), { ...credentials(), authorization: 'Bearer rcb_wrong' }]) {
        answers.add(await expecting(path, headers, 'Expect: tea'));
      }
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toMatch(/^HTTP\/1\.1 417 Expectation Failed\r\n[^{]*$/);
    expect([...answers][0]?.split('HTTP/1.1')).toHaveLength(2);
    expect([...hub.counts.read('auth')]).toEqual(before);
    // The control: who expects what is met is asked who he is.
    expect(await expecting('/v1/heartbeat', json, 'Expect: 100-continue')).toMatch(
      /100 Continue\r\n\r\nHTTP\/1\.1 401 /,
    );
  });

  it('closes, though a host keeps its connection', async () => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const body = beatBody();
    const head = Object.entries({ host: 'hub', ...credentials(), 'content-length': String(body.length) })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.write(`POST /v1/heartbeat HTTP/1.1\r\n${head}\r\n${body}`);
    await new Promise((resolve) => socket.once('data', resolve));
    await app.close();
    await closed;
  });
});

function linesOf(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries({ host: 'hub', ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
}

/** All that is said until the connection ends, without the time. */
function talk(head: readonly string[], body: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () =>
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`),
    );
    let text = '';
    socket.on('data', (part) => {
      text += part.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text.replace(/Date: .*\r\n/, '')));
  });
}
