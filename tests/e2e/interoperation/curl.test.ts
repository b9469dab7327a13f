/** What can be scripted with curl against a running hub: whom it believes, what it is answered, and with which headers (design 8, 11). */
import { join } from 'node:path';
import { type HubStatusAnswer, type OperatorToken, unauthenticatedBody } from '@rollcall/wire';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Child, startChild } from '../harness/child.ts';
import { createFleet, freePort, readHubRootFile } from '../harness/fleet.ts';
import { bearerOf, randomMaster } from '../harness/raw-host.ts';
import { readBundlePem } from '../harness/trust-bundle.ts';
import { useFleet } from '../harness/use-fleet.ts';
import { type Curled, curl, exits, hasCurl } from './curl.ts';

if (!hasCurl) console.warn('curl is not installed: what it is answered is not looked at');

const master = randomMaster();
const fleet = useFleet({ master, hubFlags: ['--beat', '200ms', '--operators', '127.0.0.1:0'] });
let bundleFile: string;
let hub: string;
let pin: string;

// Skipped where curl is not installed: there is nothing to script with.
describe.skipIf(!hasCurl)('curl', () => {
  beforeAll(async () => {
    bundleFile = fleet().write('bundle.pem', await readBundlePem(fleet()));
    hub = `https://127.0.0.1:${fleet().port}`;
    const [spki = new Uint8Array()] = readHubRootFile(fleet()).spki;
    pin = `sha256//${Buffer.from(spki).toString('base64')}`;
    await fleet().addHost('agent-7', { existing: true });
  });

  describe('believes the hub', () => {
    it('by its trust bundle, and by no other, nor by what the machine believes', async () => {
      const other = await createFleet({ master: null });
      onTestFinished(() => other.close());
      const otherFile = other.write('bundle.pem', await readBundlePem(other));
      expect((await curl(['--cacert', bundleFile, `${hub}/healthz`])).status).toBe(200);
      expect((await curl(['--cacert', otherFile, `${hub}/healthz`])).exit).toBe(exits.notVerified);
      expect((await curl([`${hub}/healthz`])).exit).toBe(exits.notVerified);
    });

    it('by the pin of its key alone, which the hub-root file has', async () => {
      const wrong = `sha256//${Buffer.alloc(32, 7).toString('base64')}`;
      const ask = (...pins: string[]) => curl(['--insecure', '--pinnedpubkey', pins.join(';'), `${hub}/healthz`]);
      expect((await ask(pin)).status).toBe(200);
      expect(await ask(wrong)).toMatchObject({ exit: exits.pinMismatch, status: 0 });
      expect((await ask(wrong, pin)).status).toBe(200);
    });

    it('under the name that hosts were told, and under no other', async () => {
      const { port, cacert } = await startNamed('localhost');
      const ask = (...args: string[]) => curl(['--cacert', cacert, ...args]);
      expect((await ask(`https://localhost:${port}/healthz`)).status).toBe(200);
      expect((await ask(`https://127.0.0.1:${port}/healthz`)).exit).toBe(exits.notVerified);
      const resolve = ['--resolve', `other.example:${port}:127.0.0.1`];
      expect((await ask(...resolve, `https://other.example:${port}/healthz`)).exit).toBe(exits.notVerified);
      // That was the name, and not the way there.
      expect((await ask(...resolve, '--insecure', `https://other.example:${port}/healthz`)).status).toBe(200);
    });
  });

  describe('speaks', () => {
    it('TLS 1.3 with it, and nothing below', async () => {
      const ask = (...args: string[]) => curl(['--cacert', bundleFile, ...args, `${hub}/healthz`]);
      expect((await ask('--tlsv1.3')).status).toBe(200);
      expect((await ask('--tlsv1.2')).status).toBe(200);
      expect((await ask('--tlsv1.2', '--tls-max', '1.2')).exit).toBe(exits.connectFailed);
      expect((await curl([`http://127.0.0.1:${fleet().port}/healthz`])).status).toBe(0);
    });

    it('HTTP/1.1, also where it offers more, and over one connection as often as it likes', async () => {
      const urls = Array.from({ length: 3 }, () => ['-o', '/dev/null', `${hub}/healthz`]).flat();
      const written = await ask('--http2', '-w', '%{http_version} %{num_connects};', ...urls);
      expect([written.exit, written.text]).toEqual([0, '1.1 1;1.1 0;1.1 0;']);
    });
  });

  describe('is answered', () => {
    const json = 'application/json; charset=utf-8';
    const problem = 'application/problem+json; charset=utf-8';
    it.each([
      ['GET', '/healthz', 200, json],
      ['GET', '/readyz', 200, json],
      ['GET', '/version', 200, json],
      ['GET', '/v1/trust-bundle', 200, json],
      ['POST', '/v1/heartbeat', 401, json],
      ['POST', '/v1/enrol', 400, problem],
      ['GET', '/v1/hosts', 404, problem],
      ['PUT', '/healthz', 404, problem],
      ['GET', '/%zz', 400, problem],
    ])('%s %s with %d, and headers that name no software and keep nothing', async (method, path, status, type) => {
      const answer = await ask('-X', method, '--path-as-is', `${hub}${path}`);
      expect([answer.status, answer.headers['content-type']]).toEqual([status, type]);
      expect(Object.keys(answer.headers).sort()).toEqual(usualHeaders);
      expect(answer.headers['keep-alive']).toBe('timeout=75');
      expect(Number(answer.headers['content-length'])).toBe(Buffer.byteLength(answer.body));
      expect(Math.abs(Date.parse(answer.headers['date'] ?? '') - Date.now())).toBeLessThan(60_000);
      if (type === problem) expect(Object.keys(answer.json()).sort()).toEqual(problemFields);
    });

    it('in a body that HEAD leaves out, and nothing else', async () => {
      const [head, get] = [await ask('--head', `${hub}/healthz`), await ask(`${hub}/healthz`)];
      expect([head.status, head.body, get.body]).toEqual([200, '', '{"status":"ok"}']);
      expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' });
    });

    it('401 with the same bytes and headers, whatever was wrong', async () => {
      const wrongs = [
        [],
        as('agent-7', 'rcb_x'),
        as('agent-7', bearerOf(master, 'agent-8', 1)),
        as('nobody', bearerOf(master, 'nobody', 1)),
        as('agent-7', bearerOf(master, 'agent-7', 2)),
      ];
      for (const wrong of wrongs) {
        const answer = await beat('{}', ...wrong);
        expect([answer.status, answer.body]).toEqual([401, unauthenticatedBody]);
        expect({ ...answer.headers, date: '' }).toEqual({
          'content-type': json,
          'content-length': '30',
          date: '',
          connection: 'keep-alive',
          'keep-alive': 'timeout=75',
        });
      }
      expect((await beat(goodBody(1))).status).toBe(200);
    });

    it('to a body however it is sent: with a length, in chunks, after a question whether it is wanted', async () => {
      for (const [seq, ...headers] of [
        [2, 'Expect:'],
        [3, 'Transfer-Encoding: chunked'],
        [4, 'Expect: 100-continue'],
        [5, 'Transfer-Encoding: chunked', 'Expect: 100-continue'],
      ] as const) {
        const sent = [...mine(), ...headers.flatMap((header) => ['-H', header])];
        const answer = await beat(goodBody(seq), ...sent);
        expect([seq, answer.status, Object.keys(answer.json())]).toEqual([
          seq,
          200,
          ['time', 'nextBeatMs', 'pin', 'deliveries', 'statements'],
        ]);
      }
    });

    it.each([
      ['that is no JSON', 'application/json', '{', 400, 'malformed_json'],
      ['of another type', 'text/plain', '{}', 415, 'unsupported_media_type'],
      ['that is no heartbeat', 'application/json', '{}', 400, 'malformed_request'],
    ])('a body %s (%s %s) with %d %s', async (_what, type, body, status, code) => {
      const answer = await ask(...mine(), '-H', `Content-Type: ${type}`, '-d', body, `${hub}/v1/heartbeat`);
      expect([answer.status, answer.json()['code']]).toEqual([status, code]);
    });

    it.each([
      ['heartbeat', 'by its length', []],
      ['heartbeat', 'in chunks', ['-H', 'Transfer-Encoding: chunked']],
      ['enrol', 'by its length', []],
      ['enrol', 'in chunks', ['-H', 'Transfer-Encoding: chunked']],
    ])('%s with a body that is too large, %s, while it is still on its way', async (route, _how, flags) => {
      const input = Buffer.alloc(4_000_000, ' ');
      const sent = [...mine(), '-H', 'Content-Type: application/json', ...flags, '--data-binary', '@-'];
      for (let time = 0; time < 8; time += 1) {
        const answer = await curl(['--cacert', bundleFile, ...sent, `${hub}/v1/${route}`], { input });
        expect([answer.exit, answer.status, answer.json()['code']]).toEqual([0, 413, 'too_large']);
        expect(answer.headers['connection']).toBe('close');
      }
    });

    it('headers that are too large with a status and the end of the connection', async () => {
      const answer = await ask('-H', `X-Long: ${'x'.repeat(17_000)}`, `${hub}/healthz`);
      expect([answer.status, answer.headers['connection'], answer.body]).toEqual([431, 'close', '']);
      expect((await ask('-H', `X-Long: ${'x'.repeat(15_000)}`, `${hub}/healthz`)).status).toBe(200);
    });
  });

  describe('as an operator', () => {
    it('reads over the socket what design 8 says that others script against', async () => {
      const socket = ['--unix-socket', join(fleet().files.database, '..', 'operator.sock')];
      const readiness = await curl([...socket, 'http://hub/v1/readiness']);
      expect(readiness.status).toBe(200);
      expect(Object.keys(readiness.json())).toEqual(
        expect.arrayContaining([
          ...['ready', 'safeToRetire', 'retireNow', 'examined', 'hostsNotProvenOnCurrent', 'hostsUnattributed'],
          ...['hostsWithoutUsablePin', 'hostsUnusableKey', 'pendingPins', 'previousVerifiesUntil', 'problems'],
        ]),
      );
      const { hosts } = (await curl([...socket, 'http://hub/v1/hosts'])).json<{ hosts: unknown[] }>();
      expect(hosts).toEqual([expect.objectContaining({ id: 'agent-7', status: 'active', life: 1 })]);
    });

    it('reads it over TCP with a token, and without one nothing', async () => {
      const { operatorsAddress } = await fleet().ask<HubStatusAnswer>('GET', '/v1/status');
      const added = await fleet().rollcall('operator', 'add', 'ada', '--role', 'viewer', '--json');
      const { token } = added.json<OperatorToken>();
      const header = fleet().write('ada.header', `Authorization: Bearer ${token}\n`);
      const url = `https://${operatorsAddress}/v1/hosts`;
      expect((await ask('-H', `@${header}`, url)).status).toBe(200);
      expect(await ask(url)).toMatchObject({ status: 401, body: unauthenticatedBody });
      expect((await curl(['--insecure', '--pinnedpubkey', pin, '-H', `@${header}`, url])).status).toBe(200);
      expect((await ask('--tls-max', '1.2', url)).exit).toBe(exits.connectFailed);
    });

    it('scrapes the metrics in plain HTTP from loopback', async () => {
      const { metricsAddress } = await fleet().ask<HubStatusAnswer>('GET', '/v1/status');
      const answer = await curl([`http://${metricsAddress}/metrics`]);
      expect([answer.status, answer.headers['content-type']]).toEqual([
        200,
        'text/plain; version=0.0.4; charset=utf-8',
      ]);
      expect(Object.keys(answer.headers).sort()).toEqual(usualHeaders);
    });
  });
});

const usualHeaders = ['connection', 'content-length', 'content-type', 'date', 'keep-alive'];
const problemFields = ['code', 'details', 'hint', 'requestId', 'status', 'title', 'type'];

function ask(...args: readonly string[]): Promise<Curled> {
  return curl(['--cacert', bundleFile, ...args]);
}

function as(host: string, bearer: string): readonly string[] {
  return ['-H', `Authorization: Bearer ${bearer}`, '-H', `X-Rollcall-Host: ${host}`];
}

const mine = () => as('agent-7', bearerOf(master, 'agent-7', 1));

function beat(body: string, ...args: readonly string[]): Promise<Curled> {
  const headers = ['-H', 'Content-Type: application/json'];
  const given = args.length === 0 && body !== '{}' ? mine() : args;
  return ask('-X', 'POST', ...headers, ...given, '--data-binary', body, `${hub}/v1/heartbeat`);
}

function goodBody(seq: number): string {
  return JSON.stringify({
    instance: Buffer.alloc(16, 1).toString('base64url'),
    seq,
    held: {},
    refused: [],
    agent: { version: 'curl' },
    startup: 'fresh',
    sentAt: new Date().toISOString(),
  });
}

/** A hub that its hosts reach by a name. */
async function startNamed(name: string): Promise<{ readonly port: number; readonly cacert: string }> {
  const port = await freePort();
  const dir = join(fleet().dir, `hub-${name}`);
  await fleet().rollcall('hub', 'init', '--dir', dir, '--listen', `${name}:${port}`, '--json');
  const child: Child = startChild({
    name: `hub ${name}`,
    args: ['hub', 'start', '--dir', dir, '--metrics', '127.0.0.1:0'],
    recorder: fleet().recorder,
    env: { HOME: fleet().dir },
  });
  onTestFinished(async () => void (await child.kill('SIGKILL')));
  const at = { port, recorder: fleet().recorder };
  const pem = await fleet().waitUntil('the other hub answers', () => readBundlePem(at).catch(() => undefined));
  return { port, cacert: fleet().write(`${name}.pem`, pem) };
}
