/** nginx with the configuration of docs/guides/replace-a-header-check.md, as it stands there, while its token is rotated under load. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { RotationStatus } from '@rollcall/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../harness/child.ts';
import { findNginx } from '../harness/debian-tools.ts';
import { readBlocks } from '../harness/documents.ts';
import { freePort } from '../harness/fleet.ts';
import { refusedOf, startCallers, takenBy } from '../harness/token-callers.ts';
import { findTool, runTool } from '../harness/tool.ts';
import { useFleet } from '../harness/use-fleet.ts';

const nginx = await findNginx();
const missing = [
  ...(nginx.missing === undefined ? [] : [nginx.missing]),
  ...['ps', 'pgrep'].filter((name) => !findTool(name)),
];
if (missing.length > 0) console.warn(`nginx is not tested: ${missing.join('; ')}`);

const OLD = 'a-shared-token-of-an-older-fleet';
const fleet = useFleet({ hubFlags: ['--beat', '200ms', '--quiet-window', '2s'] });
let port = 0;
let master: ChildProcess | undefined;

const place = (...names: readonly string[]) => join(fleet().dir, 'web', ...names);
const present = () => readFileSync(place('token', 'present'), 'utf8');
const ask = async (token: string) => (await get({ 'X-Node-Token': token })).status;

// Skipped where nginx is not installed and Debian's package cannot be had, or the script of the page has not what it calls.
describe.skipIf(missing.length > 0)('nginx', () => {
  beforeAll(async () => {
    port = await freePort();
    for (const name of ['', 'logs', 'temp']) mkdirSync(place(name), { mode: 0o700 });
    writePage();
    fleet().write('web/nginx.conf', configuration());
  }, 60_000);
  afterAll(async () => {
    if (master === undefined || master.exitCode !== null) return;
    const ended = new Promise((resolve) => master?.once('close', resolve));
    master.kill('SIGTERM');
    await ended;
  });

  it('does not start before there is a map, which the agent writes before nginx runs', async () => {
    const tested = await runTool(nginx.program ?? '', flags('-t', '-q'));
    expect([tested.code, tested.stderr]).toEqual([1, expect.stringContaining('node-token.map')]);
    const sink = {
      name: 'web',
      path: place('token'),
      secret: 'api',
      reload_command: [place('reload-nginx')],
      reload_timeout: '20s',
    };
    const listen = `127.0.0.1:${await freePort()}`;
    const enrol = fleet().write('agent-1.token', await fleet().addHost('agent-1'));
    fleet().startAgent(
      'agent-1',
      '--config',
      fleet().write('agent-1.yaml', JSON.stringify({ enrol, listen, sinks: [sink] })),
    );
    const file = fleet().write('shared', `${OLD}\n`);
    expect((await fleet().rollcall('secret', 'import', 'api', '--file', file, '--holders', 'all')).code).toBe(0);
    await fleet().waitUntil('the token file is there', async () => (await sinkState())?.version === 1);
    // Nobody can be told yet; the map is there all the same.
    await fleet().waitUntil('the script has run', async () => (await sinkState())?.problem === 'sink_reload_failed');
    expect((await runTool(nginx.program ?? '', flags('-t', '-q'))).code).toBe(0);
    master = spawn(nginx.program ?? '', flags('-g', 'daemon off;'), { stdio: ['ignore', 'ignore', 'inherit'] });
    await fleet().waitUntil('nginx answers', async () => (await ask(OLD)) === 200);
    // From here on the agent has nothing to tell it, and the script is run by nobody but these tests.
    await fleet().waitUntil('it was told', async () => (await sinkState())?.state === 'reloaded');
  });

  it.each([
    ['a longer one', { 'X-Node-Token': `${OLD}x` }],
    ['a shorter one', { 'X-Node-Token': OLD.slice(0, -1) }],
    ['another case', { 'X-Node-Token': OLD.toUpperCase() }],
    ['an empty one', { 'X-Node-Token': '' }],
    ['none', {}],
  ] as [string, Record<string, string>][])('refuses %s with the constant refusal', async (_what, headers) => {
    expect(await get(headers)).toEqual({ status: 401, body: '{"error":"node token invalid"}' });
    expect((await get({ 'X-Node-Token': OLD })).body).toBe('current');
  });

  it('keeps the map that it has when a token cannot stand in one', async () => {
    const odd = place('odd');
    mkdirSync(odd, { recursive: true });
    fleet().write('web/odd/current', 'a"; return 200; #');
    const before = readFileSync(place('node-token.map'), 'utf8');
    const ran = await runTool(place('reload-nginx'), [], { env: { ROLLCALL_SINK_PATH: odd } });
    expect([ran.code, readFileSync(place('node-token.map'), 'utf8')]).toEqual([1, before]);
    expect(ran.stderr).not.toContain('return 200');
    expect(await ask(OLD)).toBe(200);
  });

  it('is told when the script returns: no worker goes by the former map any more', async () => {
    const other = place('other');
    mkdirSync(other);
    for (const token of ['one-token', 'two-token', 'three-token']) {
      fleet().write('web/other/current', token);
      expect((await runTool(place('reload-nginx'), [], { env: { ROLLCALL_SINK_PATH: other } })).code).toBe(0);
      const asked = await Promise.all(Array.from({ length: 40 }, () => ask(token)));
      expect([token, new Set(asked)]).toEqual([token, new Set([200])]);
    }
    await runTool(place('reload-nginx'), [], { env: { ROLLCALL_SINK_PATH: place('token') } });
    expect(await ask(OLD)).toBe(200);
  });

  it('takes both while the token is rotated, and nobody is refused who sends what stands in the file', {
    timeout: 120_000,
  }, async () => {
    const callers = startCallers({ program: present }, [{ name: 'nginx', ask }], 5);
    const phase = async () => (await fleet().ask<RotationStatus>('GET', '/v1/rotations/api')).rotation.phase;
    expect((await fleet().rollcall('rotation', 'start', 'api', '--auto')).code).toBe(0);
    await fleet().waitUntil('both are taken', async () =>
      /next|retiring/.test(readFileSync(place('node-token.map'), 'utf8')),
    );
    const isProven = async () => (await fleet().rollcall('rotation', 'advance', 'api', '--from', 'proving')).code === 0;
    await fleet().waitUntil('the old token was silent', isProven, { withinMs: 60_000 });
    await fleet().waitUntil('the rotation is done', async () => (await phase()) === 'done', { withinMs: 60_000 });
    await fleet().waitUntil('the old one is refused', async () => (await ask(OLD)) === 401);
    const calls = await callers.stop();
    expect(refusedOf(calls)).toEqual([]);
    expect(takenBy(calls, 'nginx')).toBeGreaterThan(100);
    expect(present()).not.toBe(OLD);
    expect((await get({ 'X-Node-Token': present() })).body).toBe('current');
  });
});

/** The files of the page, with its places replaced by those of this test. */
function writePage(): void {
  const page = readFileSync(join(root, 'docs/guides/replace-a-header-check.md'), 'utf8');
  for (const { file } of readBlocks(page)) {
    if (file === undefined || !/nginx|node-token/.test(file.path)) continue;
    const text = file.text
      .replaceAll('/srv/rollcall/web', place())
      .replaceAll('/run/nginx.pid', place('nginx.pid'))
      .replace('nginx=/usr/sbin/nginx', `nginx=${place('nginx')}`);
    fleet().write(join('web', file.path), text);
  }
  // The page has nginx at its usual place, with its usual configuration.
  fleet().write(
    'web/nginx',
    `#!/bin/sh\nexec '${nginx.program}' ${flags()
      .map((flag) => `'${flag}'`)
      .join(' ')} "$@"\n`,
  );
  for (const name of ['nginx', 'reload-nginx']) chmodSync(place(name), 0o700);
}

function flags(...more: readonly string[]): readonly string[] {
  return ['-p', place(), '-e', place('logs', 'error.log'), '-c', place('nginx.conf'), ...more];
}

function configuration(): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${place('temp', kind)};`,
  );
  return `
worker_processes 2;
pid ${place('nginx.pid')};
events { worker_connections 512; }
http {
  access_log off;
  ${temp.join('\n  ')}
  include ${place('node-token.conf')};
  server {
    listen 127.0.0.1:${port};
    include ${place('node-token-server.conf')};
    location / { return 200 $node_token_role; }
  }
}
`;
}

async function sinkState() {
  return (await fleet().agentStatus('agent-1')).sinks?.find(({ name }) => name === 'web');
}

function get(headers: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/', headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
      answer.once('error', reject);
    });
    asked.once('error', reject);
    asked.end();
  });
}
