/** The servers of docs/guides/replace-a-header-check.md, as they stand there, while the token that they check is rotated under them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { RotationStatus } from '@rollcall/wire';
import { afterEach, expect, it } from 'vitest';
import { root } from './harness/child.ts';
import { readBlocks } from './harness/documents.ts';
import { freePort } from './harness/fleet.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet({ hubFlags: ['--beat', '200ms', '--quiet-window', '2s'] });
const OLD = 'a-shared-token-of-an-older-fleet';
const SHOWN_SINK = '/srv/rollcall/web/token';
const servers = ['express', 'fastify', 'fetch'] as const;
const running: ChildProcess[] = [];

/** What Bun, Deno or a worker does with the module of a fetch-style server. */
const FETCH_RUNNER = `
import { createServer } from 'node:http';
import server from './fetch.mjs';
createServer(async (incoming, outgoing) => {
  const answer = await server.fetch(new Request('http://host' + incoming.url, { headers: incoming.headers }));
  outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
  outgoing.end(await answer.text());
}).listen(Number(process.env.PORT), '127.0.0.1');
`;

afterEach(async () => {
  const alive = running.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const ended = alive.map((child) => new Promise((resolve) => child.once('close', resolve)));
  for (const child of running.splice(0)) child.kill('SIGKILL');
  await Promise.all(ended);
});

interface Served {
  readonly name: string;
  readonly port: number;
  /** What stands in its token file now. */
  readonly token: () => string;
}

const get = (port: number, path: string, headers: Record<string, string> = {}) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
      let body = '';
      answer.on('data', (chunk: Buffer) => {
        body += chunk;
      });
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    sent.once('error', reject).end();
  });

const whoami = (port: number, token: string) => get(port, '/whoami', { 'X-Node-Token': token });
const sinkOf = (name: string) => join(fleet().dir, 'web', name, 'token');
const pidOf = (name: string) => join(fleet().dir, `${name}.pid`);

/** Writes the blocks of the page into a directory for this server. */
function writeServer(name: string): string {
  const dir = join(fleet().dir, name);
  mkdirSync(dir);
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  const page = readFileSync(join(root, 'docs/guides/replace-a-header-check.md'), 'utf8');
  for (const { file } of readBlocks(page)) {
    if (file !== undefined) writeFileSync(join(dir, file.path), file.text.replaceAll(SHOWN_SINK, sinkOf(name)));
  }
  writeFileSync(join(dir, 'fetch-runner.mjs'), FETCH_RUNNER);
  return dir;
}

async function serve(name: (typeof servers)[number]): Promise<Served> {
  const port = await freePort();
  const file = name === 'fetch' ? 'fetch-runner.mjs' : `${name}.mjs`;
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [file], {
    cwd: writeServer(name),
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  running.push(child);
  await fleet().waitUntil(`${name} answers`, () =>
    get(port, '/healthz').then(
      () => true,
      () => false,
    ),
  );
  writeFileSync(pidOf(name), String(child.pid), { mode: 0o600 });
  return { name, port, token: () => readFileSync(join(sinkOf(name), 'present'), 'utf8') };
}

it('each takes both tokens while one is rotated, and refuses all others with the same bytes', async () => {
  for (const name of servers) mkdirSync(join(fleet().dir, 'web', name), { recursive: true, mode: 0o700 });
  const sinks = servers.map((name) => ({ name, path: sinkOf(name), secret: 'api', reload_pid_file: pidOf(name) }));
  // Without a listener a host is no verifier, and the gate out of widening does not wait for its programs either.
  const listen = `127.0.0.1:${await freePort()}`;
  const enrol = fleet().write('agent-1.token', await fleet().addHost('agent-1'));
  fleet().startAgent('agent-1', '--config', fleet().write('agent-1.yaml', JSON.stringify({ enrol, listen, sinks })));
  const file = fleet().write('shared', `${OLD}\n`);
  expect((await fleet().rollcall('secret', 'import', 'api', '--file', file, '--holders', 'all')).code).toBe(0);
  const isWritten = async () => {
    const { sinks: written } = await fleet().agentStatus('agent-1');
    return written?.every(({ version }) => version === 1) === true && written.length === servers.length;
  };
  await fleet().waitUntil('the token files are there', isWritten);
  const served = await Promise.all(servers.map(serve));
  // The gate out of widening does not wait for programs that were not told yet: docs/guides/rotate-a-shared-token.md.
  const isTold = async () =>
    (await fleet().agentStatus('agent-1')).sinks?.every(({ state }) => state === 'reloaded') === true;
  await fleet().waitUntil('each server was told of its token file', isTold);

  for (const { port, name } of served) {
    expect([name, await whoami(port, OLD)]).toEqual([name, { status: 200, body: '{"version":1,"role":"current"}' }]);
    for (const wrong of [{ 'X-Node-Token': `${OLD}x` }, { 'X-Node-Token': '' }, {}] as Record<string, string>[]) {
      const refused = await get(port, '/whoami', wrong);
      expect([name, refused]).toEqual([name, { status: 401, body: '{"error":"node token invalid"}' }]);
    }
  }

  const answers = new Map<string, number>();
  let isOver = false;
  // As another host would: it sends what its own token file holds.
  const callers = served.map(async ({ name, port, token }) => {
    while (!isOver) {
      const { status } = await whoami(port, token());
      answers.set(`${name} ${status}`, (answers.get(`${name} ${status}`) ?? 0) + 1);
    }
  });
  const phase = async () => (await fleet().ask<RotationStatus>('GET', '/v1/rotations/api')).rotation.phase;
  expect((await fleet().rollcall('rotation', 'start', 'api', '--auto')).code).toBe(0);
  // A host that asks itself is known by its report, on which alone nothing narrows by itself.
  const isProven = async () => (await fleet().rollcall('rotation', 'advance', 'api', '--from', 'proving')).code === 0;
  await fleet().waitUntil('the old token was silent', isProven, { withinMs: 60_000 });
  await fleet().waitUntil('the rotation is done', async () => (await phase()) === 'done', { withinMs: 60_000 });
  const isDropped = async () =>
    (await Promise.all(served.map(({ port }) => whoami(port, OLD)))).every(({ status }) => status === 401);
  await fleet().waitUntil('the old token is refused', isDropped);
  isOver = true;
  await Promise.all(callers);
  expect([...answers.keys()].sort()).toEqual(['express 200', 'fastify 200', 'fetch 200']);
  for (const { port, token } of served) {
    expect(token()).not.toBe(OLD);
    expect((await whoami(port, token())).body).toBe('{"version":2,"role":"current"}');
  }
});
