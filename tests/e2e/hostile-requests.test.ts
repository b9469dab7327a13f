/**
 * Requests that are wrong in every way that can be thought of, at every listener: each is refused with a status and, where it was
 * a request at all, a stable code; nothing of it comes back, nothing of it is a fault inside, and no row of any table is another.
 */
import { join } from 'node:path';
import { nothing, type Route, routes, unauthenticatedBody } from '@rollcall/wire';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Address } from './harness/exchange.ts';
import { readLog } from './harness/fleet.ts';
import { sendBytes } from './harness/raw-bytes.ts';
import { enrolRawHost, type RawHost } from './harness/raw-host.ts';
import type { Store } from './harness/store.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet();
let host: RawHost;
let before = '';
let metricsPort = 0;
let store: Store;

beforeAll(async () => {
  host = await enrolRawHost(fleet(), 'web-1');
  await fleet().enrolAgent('agent-1');
  await fleet().addHost('invited');
  const status = await fleet().ask<{ metricsAddress: string }>('GET', '/v1/status');
  metricsPort = Number(status.metricsAddress.split(':').at(-1));
  store = fleet().store();
  before = dump();
});

afterEach(async () => {
  expect(dump()).toBe(before);
  expect(fleet().hub().hasEnded()).toBe(false);
  expect(readLog(fleet().hub()).filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  // The control: a request that is right is answered.
  expect((await send('fleet', lines('GET /healthz HTTP/1.1', 'Host: h', 'Connection: close'))).status).toBe(200);
});

/** All that trust rests on: every table but what was merely seen, and the clock. */
function dump(): string {
  const tables = store.rows<{ name: string }>(`select name from sqlite_master where type = 'table' order by name`);
  return JSON.stringify(
    tables
      .filter(({ name }) => name !== 'liveness')
      .map(({ name }) => [name, store.rows(`select * from ${name} ${name === 'meta' ? `where key <> 'clock'` : ''}`)]),
  );
}

type Name = 'fleet' | 'operators' | 'metrics' | 'agent';
const names: readonly Name[] = ['fleet', 'operators', 'metrics', 'agent'];
const addresses: Readonly<Record<Name, () => { address: Address; plain: boolean; open: string }>> = {
  fleet: () => ({ address: { port: fleet().port }, plain: false, open: '/healthz' }),
  operators: () => ({
    address: { socket: join(fleet().dir, 'hub', 'operator.sock') },
    plain: true,
    open: '/v1/status',
  }),
  metrics: () => ({ address: { port: metricsPort }, plain: true, open: '/metrics' }),
  agent: () => ({
    address: { socket: join(fleet().stateOf('agent-1'), 'agent.sock') },
    plain: true,
    open: '/v1/status',
  }),
};
const send = (name: Name, bytes: string) => {
  const { address, plain } = addresses[name]();
  return sendBytes(address, bytes, { plain });
};

const CRLF = '\r\n';
const lines = (...all: readonly string[]) => `${all.join(CRLF)}${CRLF}${CRLF}`;

/** Two readers of one of these could see two different requests in it (RFC 9112 §11.2). */
const ambiguous: Readonly<Record<string, (path: string) => string>> = {
  'a length beside chunks': (path) =>
    `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'chunks beside a length': (path) =>
    `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`,
  'two lengths': (path) =>
    `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Content-Length: 5', 'Content-Length: 6')}hello`,
  'the same length twice': (path) =>
    `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Content-Length: 5', 'Content-Length: 5')}hello`,
  'a list of lengths': (path) => `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Content-Length: 5, 5')}hello`,
  'a length with a sign': (path) => `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Content-Length: +5')}hello`,
  'a length below zero': (path) => `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Content-Length: -5')}hello`,
  'a length in hex': (path) => `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Content-Length: 0x5')}hello`,
  'a length that no number holds': (path) =>
    `${lines(`POST ${path} HTTP/1.1`, 'Host: h', `Content-Length: ${'9'.repeat(40)}`)}hello`,
  'chunked twice': (path) =>
    `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'chunked and then not': (path) =>
    `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Transfer-Encoding: chunked, identity')}0\r\n\r\n`,
  'another coding': (path) => `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Transfer-Encoding: xchunked')}0\r\n\r\n`,
  'a chunk with a wrong size': (path) =>
    `${lines(`POST ${path} HTTP/1.1`, 'Host: h', 'Transfer-Encoding: chunked')}zz\r\nhello\r\n0\r\n\r\n`,
  'a folded header': (path) => lines(`GET ${path} HTTP/1.1`, 'Host: h', 'X-A: b', ' c: d'),
  'lines that end in LF': (path) => `GET ${path} HTTP/1.1\nHost: h\n\n`,
  'one line that ends in LF': (path) => lines(`GET ${path} HTTP/1.1`, 'Host: h', 'X-A: b\nX-B: c'),
  'a line that ends in CR': (path) => lines(`GET ${path} HTTP/1.1`, 'Host: h', 'X-A: b\rX-B: c'),
  'white space before a colon': (path) => lines(`GET ${path} HTTP/1.1`, 'Host : h'),
  'a header without a name': (path) => lines(`GET ${path} HTTP/1.1`, 'Host: h', ': x'),
  'a zero byte in the path': (path) => lines(`GET ${path}\0 HTTP/1.1`, 'Host: h'),
  'a zero byte in a header': (path) => lines(`GET ${path} HTTP/1.1`, 'Host: h', 'X-A: b\0c'),
  'no host': (path) => lines(`GET ${path} HTTP/1.1`),
  'a version that there is not': (path) => lines(`GET ${path} HTTP/9.9`, 'Host: h'),
  'HTTP/2 without a word': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'no HTTP at all': () => `\x16\x03\x01${'\0'.repeat(64)}\r\n\r\n`,
};

describe.each(names)('at the listener %s', (name) => {
  const path = () => addresses[name]().open;

  it.each(Object.entries(ambiguous))('%s: one status, and the connection is closed', async (_what, request) => {
    // What follows on the same connection, smuggled behind the first, must never be looked at.
    const talked = await send(name, `${request(path())}${lines(`GET ${path()} HTTP/1.1`, 'Host: smuggled')}`);
    // Where the head of a request was good it may have been answered before its body turned out to be none.
    expect([talked.status, talked.isClosed]).toEqual([400, true]);
    const answeredFirst = [...talked.text.matchAll(/HTTP\/1\.1 (\d+)/g)].slice(0, -1).map((match) => match[1]);
    expect([[], ['401'], ['404'], ['405']]).toContainEqual(answeredFirst);
    expect(talked.text).not.toContain('HTTP/1.1 200');
  });

  it.each<[string, (path: string) => string, number]>([
    ['headers that are too long', (at) => lines(`GET ${at} HTTP/1.1`, 'Host: h', `X-A: ${'b'.repeat(20_000)}`), 431],
    ['too many headers', (at) => lines(`GET ${at} HTTP/1.1`, 'Host: h', ...Array(5_000).fill('X-A: b')), 431],
    ['a path that is too long', (at) => lines(`GET ${at}?${'b'.repeat(20_000)} HTTP/1.1`, 'Host: h'), 431],
  ])('%s: told so, and the connection is closed', async (_what, request, status) => {
    const talked = await send(name, request(path()));
    expect([talked.status, talked.isClosed]).toEqual([status, true]);
  });

  it('CONNECT gets nothing, and an upgrade is not made', async () => {
    expect(await send(name, lines('CONNECT h:443 HTTP/1.1', 'Host: h'))).toMatchObject({ status: 0, isClosed: true });
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13'];
    const talked = await send(name, lines(`GET ${path()} HTTP/1.1`, 'Host: h', ...upgrade));
    expect([talked.status, talked.answers]).toEqual([200, 1]);
  });

  it('an old version of HTTP is answered, and its connection closed', async () => {
    expect(await send(name, lines(`GET ${path()} HTTP/1.0`))).toMatchObject({ status: 200, isClosed: true });
  });

  it.each([
    '/%',
    '/%zz',
    '/%00',
    '/%c0%af',
    '/../../etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '//',
    '*',
    '/__proto__',
    '/constructor',
    '/v1',
    '/v1/challenges',
    '/v1/recovery',
    '/v1/hosts%2fweb-1',
  ])('there is nothing at %s', async (odd) => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const talked = await send(name, lines(`${method} ${odd} HTTP/1.1`, 'Host: h', 'Connection: close'));
      // Beside its own local routes an agent serves those of its host, and a stranger is not told which there are.
      const nothing = name === 'agent' ? [400, 401, 404, 405] : [400, 404, 405];
      expect(nothing, `${method} ${odd}: ${talked.text}`).toContain(talked.status);
      expect(talked.text).not.toMatch(/passwd|c0%af|node_modules|\bat .*:\d+:\d+/);
    }
  });
});

describe('at the listener fleet', () => {
  it('what is no TLS is closed without a word', async () => {
    const talked = await sendBytes({ port: fleet().port }, lines('GET /healthz HTTP/1.1', 'Host: h'), { plain: true });
    expect([talked.status, talked.isClosed]).toEqual([0, true]);
  });

  const beat = (headers: readonly string[], body: string) =>
    send(
      'fleet',
      `${lines(`POST ${routes.heartbeat.path} HTTP/1.1`, 'Host: h', 'Connection: close', ...headers, `Content-Length: ${Buffer.byteLength(body)}`)}${body}`,
    );
  const good = () => [`Authorization: Bearer ${host.bearer()}`, 'X-Rollcall-Host: web-1'];

  it.each<[string, (headers: readonly string[]) => readonly string[], number]>([
    ['no content type', (headers) => headers, 415],
    ['another content type', (headers) => [...headers, 'Content-Type: text/plain'], 415],
    ['one that only begins like it', (headers) => [...headers, 'Content-Type: application/jsonp'], 415],
    ['two of them', (headers) => [...headers, 'Content-Type: text/plain', 'Content-Type: application/json'], 415],
    ['a second bearer', (headers) => [...headers, 'Authorization: Bearer x', 'Content-Type: application/json'], 401],
    ['a second id', (headers) => [...headers, 'X-Rollcall-Host: web-1', 'Content-Type: application/json'], 401],
    ['its bearer in an id', () => ['X-Rollcall-Host: rcb_x', 'Content-Type: application/json'], 401],
    [
      'a bearer behind two thousand headers',
      (headers) => [...headers, ...Array(2_100).fill('a:'), 'Authorization: Bearer x'],
      401,
    ],
    [
      'an expectation that nobody can meet',
      (headers) => [...headers, 'Expect: tea', 'Content-Type: application/json'],
      417,
    ],
  ])('a beat with %s is refused', async (_what, change, status) => {
    const talked = await beat(change(good()), '{}');
    expect(talked.status).toBe(status);
    if (status === 401) expect(talked.text).toContain(unauthenticatedBody);
  });

  it('a beat that expects to be asked for its body is asked, and refused without it when it is nobody’s', async () => {
    const wait = ['Expect: 100-continue', 'Content-Type: application/json'];
    const asked = await send(
      'fleet',
      lines(`POST ${routes.heartbeat.path} HTTP/1.1`, 'Host: h', ...wait, 'Content-Length: 9'),
    );
    expect(asked.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 /);
  });

  it.each<[string, string, string]>([
    ['none', '', 'malformed_json'],
    ['a cut object', '{', 'malformed_json'],
    ['two documents', '{}{}', 'malformed_json'],
    ['a key twice', '{"seq":1,"seq":2}', 'malformed_json'],
    ['a key twice, once escaped', '{"seq":1,"s\\u0065q":2}', 'malformed_json'],
    ['a number that is too large', '{"seq":9007199254740992}', 'malformed_json'],
    ['a giant number', `{"seq":${'9'.repeat(400)}}`, 'malformed_json'],
    ['an exponent', '{"seq":1e3}', 'malformed_json'],
    ['a negative zero', '{"seq":-0}', 'malformed_json'],
    ['depth', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'malformed_json'],
    ['half a surrogate pair', '{"instance":"\\ud800"}', 'malformed_json'],
    ['bytes that are no UTF-8', '{"instance":"\xff"}', 'malformed_json'],
    ['a byte-order mark', '\xef\xbb\xbf{}', 'malformed_json'],
    ['NaN', '{"seq":NaN}', 'malformed_json'],
    ['a list', '[]', 'malformed_request'],
    ['a text', '"x"', 'malformed_request'],
    ['nothing that is asked for', '{}', 'malformed_request'],
    ['a prototype', '{"__proto__":{"seq":1},"constructor":{"prototype":{"seq":1}}}', 'malformed_request'],
  ])('a body of %s is refused', async (_what, body, code) => {
    const bytes = Buffer.from(body, 'latin1').toString('latin1');
    for (const [path, headers] of [
      [routes.heartbeat.path, good()],
      [routes.enrol.path, []],
      [routes.challenge.path, []],
      [routes.issueCertificate.path, []],
    ] as const) {
      const head = lines(
        `POST ${path} HTTP/1.1`,
        'Host: h',
        'Connection: close',
        'Content-Type: application/json',
        ...headers,
        `Content-Length: ${bytes.length}`,
      );
      const talked = await send('fleet', `${head}${bytes}`);
      expect([path, talked.status]).toEqual([path, 400]);
      expect(talked.text).toMatch(new RegExp(`"code":"(${code}|malformed_request)"`));
      expect(talked.text).not.toMatch(/surrogate|x{10}|\[\[\[|node_modules/);
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['an instance that is none', { instance: 'short' }],
    ['an instance of zero bytes', { instance: '\0'.repeat(22) }],
    ['a text for a number', { seq: '1' }],
    ['a number below zero', { seq: -1 }],
    ['an object for a list', { refused: {} }],
    ['too many refusals', { refused: Array(17).fill({ secret: 'master', reason: 'x' }) }],
    ['a reason that is a page', { refused: [{ secret: 'master', reason: '<script>'.repeat(20) }] }],
    ['a list for what it holds', { held: [] }],
    ['half of what it holds', { held: { master: { epoch: 1 } } }],
    ['a time that is a number', { sentAt: 1 }],
    ['a start that there is not', { startup: 'haunted' }],
    ['no agent', { agent: null }],
    ['a host that is none', { host: '../web-1' }],
    ['a wrap key that is a text', { wrapKey: 'x' }],
    ['a wrap key that is too large', { wrapKey: { suite: 'x25519', public: 'A'.repeat(5_000) } }],
  ])('a beat with %s is refused, with the place and not the value', async (_what, change) => {
    const answer = await host.beat({ body: change as never });
    expect([answer.status, answer.json()['code']]).toEqual([400, 'malformed_request']);
    expect(answer.body).not.toMatch(/haunted|<script>|short|AAAAA/);
  });

  it.each<[string, Record<string, unknown>]>([
    ['keys of a prototype', { __proto__: { x: 1 }, constructor: { prototype: { seq: 0 } }, toString: 1 }],
    [
      'secrets that nobody has',
      { held: Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`s-${n}`, { epoch: 999, step: 999 }])) },
    ],
    [
      'a held secret called after a prototype',
      { held: JSON.parse('{"__proto__":{"epoch":9,"step":9},"constructor":{"epoch":9,"step":9}}') },
    ],
    [
      'a version of nine hundred and ninety-nine',
      { held: { master: { epoch: 999, step: 999 } }, agent: { version: '999.0.0' } },
    ],
    [
      'capacity without end',
      { capacity: { cpu: Number.MAX_SAFE_INTEGER, memory: Number.MAX_SAFE_INTEGER, slots: 'x'.repeat(9_000) } },
    ],
    ['a clock from another age', { sentAt: '0001-01-01T00:00:00Z' }],
    ['a clock that is none', { sentAt: '2026-99-99T99:99:99Z' }],
  ])('a beat with %s changes nothing', async (_what, change) => {
    const known = await fleet().host('web-1');
    // The rate of a host is not what is tested here.
    host.restart();
    const answer = await fleet().waitUntil('it is answered', async () => {
      const given = await host.beat({ body: change as never });
      return given.status === 429 ? undefined : given;
    });
    expect(answer.status).toBe(200);
    const { lastSeenAt: _now, skewMs: _skew, fresh: _fresh, flags: _flags, ...rest } = await fleet().host('web-1');
    expect(known).toMatchObject(rest);
  });

  it('a body that is too large is refused by its length, before a byte of it came', async () => {
    const headers = [...good(), 'Content-Type: application/json', 'Content-Length: 1000000000'];
    const talked = await send('fleet', lines(`POST ${routes.heartbeat.path} HTTP/1.1`, 'Host: h', ...headers));
    expect([talked.status, talked.isClosed]).toEqual([413, true]);
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const chunked = [...good(), 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const grown = await send(
      'fleet',
      `${lines(`POST ${routes.heartbeat.path} HTTP/1.1`, 'Host: h', ...chunked)}${chunk.repeat(3)}`,
    );
    expect([grown.status, grown.isClosed]).toEqual([413, true]);
  });

  it('the answer to a body that is too large arrives, although its sender is still sending', async () => {
    const body = 'x'.repeat(4_000_000);
    const headers = [...good(), 'Content-Type: application/json', `Content-Length: ${body.length}`];
    for (const path of [routes.heartbeat.path, routes.enrol.path]) {
      for (let time = 0; time < 5; time += 1) {
        const talked = await send('fleet', `${lines(`POST ${path} HTTP/1.1`, 'Host: h', ...headers)}${body}`);
        expect([path, talked.status, talked.isClosed]).toEqual([path, 413, true]);
      }
    }
  });

  it('answers two requests on one connection in their order, and does not mix them up', async () => {
    const refused = lines(`POST ${routes.heartbeat.path} HTTP/1.1`, 'Host: h', 'Content-Length: 0');
    const health = lines('GET /healthz HTTP/1.1', 'Host: h');
    const talked = await send('fleet', `${refused}${health}`.repeat(20));
    expect(talked.answers).toBe(40);
    expect([...talked.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(
      Array(20).fill(['401', '200']).flat(),
    );
  });
});

describe('at the listener operators', () => {
  // A route that takes neither a body nor a name (accept-time) has nothing that could be wrong: asking it is doing it.
  const takesSomething = ({ body, path }: Route) => body !== nothing || path.includes(':');
  const changing = Object.values(routes).filter(
    (route) => route.listener === 'operator' && route.method !== 'GET' && takesSomething(route),
  );
  const bodies = [
    '',
    '{',
    '[]',
    '"x"',
    'null',
    '{"__proto__":{"host":"x"}}',
    `{"host":"${'a'.repeat(200)}"}`,
    '{"host":1}',
  ];
  const odd = ['web-1%00', '..%2fweb-1', '%2e%2e', 'a'.repeat(200), "web-1'--", '__proto__', '%ff'];

  it.each(changing.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s takes no body and no name that is wrong',
    async (_name, route) => {
      const paths = route.path.includes(':') ? odd.map((id) => route.path.replace(/:[a-z]+/, id)) : [route.path];
      for (const path of paths) {
        for (const body of bodies) {
          const head = lines(
            `${route.method} ${path} HTTP/1.1`,
            'Host: h',
            'Connection: close',
            'Content-Type: application/json',
            `Content-Length: ${body.length}`,
          );
          const talked = await send('operators', `${head}${body}`);
          expect([400, 403, 404, 409], `${path} ${body}: ${talked.text}`).toContain(talked.status);
          expect(talked.text).toMatch(/"code":"[a-z_]+"/);
        }
      }
    },
  );

  it.each([
    '?after=x',
    '?after=-1',
    '?limit=1e9',
    '?limit=99999999999999999999',
    '?since=yesterday',
    '?after=1&after=2',
  ])('a query that is wrong is refused: %s', async (query) => {
    const talked = await send('operators', lines(`GET /v1/audit${query} HTTP/1.1`, 'Host: h', 'Connection: close'));
    expect(talked.status, talked.text).toBe(400);
  });
});
