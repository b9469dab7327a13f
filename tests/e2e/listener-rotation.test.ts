/**
 * A shared token is rotated while programs call the listeners of hosts without a pause, each with what stands in its host's token
 * file at that moment: not one is refused, and at the end the old token is (I1, end to end).
 */
import { mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { RotationStatus } from '@rollcall/wire';
import { expect, it } from 'vitest';
import { exchange } from './harness/exchange.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet({ hubFlags: ['--beat', '200ms', '--quiet-window', '2s'] });
const TOKEN = 'a-shared-token-of-an-older-fleet';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startHost(id: string, reach: 'pull' | 'push') {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const body = reach === 'push' ? { reach, address } : { reach };
  const enrol = fleet().write(`${id}.token`, await fleet().addHost(id, body));
  const files = join(fleet().dir, `files-${id}`);
  mkdirSync(files, { mode: 0o700 });
  const sink = { name: 'web', path: join(files, 'token'), secret: 'api' };
  const config = fleet().write(`${id}.yaml`, `enrol: ${enrol}\nlisten: ${address}\nsinks: [${JSON.stringify(sink)}]\n`);
  fleet().startAgent(id, '--config', config);
  await fleet().waitUntil(`${id} listens`, async () => (await fleet().agentStatus(id)).listener?.open === true);
  return { id, port, token: () => readFileSync(join(sink.path, 'present'), 'utf8') };
}

const call = async (port: number, token: string, host: string) => {
  const headers = [
    ['X-Node-Token', token],
    ['X-Rollcall-Host', host],
  ] as const;
  return (await exchange({ port }, { method: 'GET', path: '/v1/echo', headers }, fleet().recorder)).status;
};

it('nobody who presents what its host was told to is refused, from widening to the end', async () => {
  const hosts = [await startHost('agent-1', 'pull'), await startHost('agent-2', 'push')];
  const file = fleet().write('shared', `${TOKEN}\n`);
  expect((await fleet().rollcall('secret', 'import', 'api', '--file', file, '--holders', 'all')).code).toBe(0);
  for (const { id, token } of hosts) {
    await fleet().waitUntil(`${id} has its token file`, () => {
      try {
        return token() === TOKEN;
      } catch {
        return false;
      }
    });
  }

  const answers = new Map<number, number>();
  const tokens = new Set<string>();
  let isStopped = false;
  // Each program calls the listener of every host with the token of its own.
  const callers = hosts.map(async ({ id, token }) => {
    while (!isStopped) {
      for (const { port } of hosts) {
        const text = token();
        tokens.add(text);
        const status = await call(port, text, id);
        answers.set(status, (answers.get(status) ?? 0) + 1);
      }
    }
  });
  try {
    const started = await fleet().rollcall('rotation', 'start', 'api', '--auto=all', '--batch', '2');
    expect([started.code, started.stderr]).toEqual([0, expect.any(String)]);
    const status = () => fleet().ask<RotationStatus>('GET', '/v1/rotations/api');
    // Of a host that the hub cannot call there are reports alone, and on those a person narrows.
    await fleet().waitUntil('nothing holds the narrowing up', async () => {
      const { rotation, gate } = await status();
      return rotation.phase === 'proving' && gate.open;
    });
    expect((await fleet().rollcall('rotation', 'advance', 'api')).code).toBe(0);
    await fleet().waitUntil('the rotation is done', async () => (await status()).rotation.phase === 'done');
  } finally {
    isStopped = true;
    await Promise.all(callers);
  }

  expect([...answers.keys()]).toEqual([200]);
  expect(tokens.size).toBe(2);
  const [next] = [...tokens].filter((token) => token !== TOKEN);
  // The control: what was refused to nobody while it was in use is refused to everybody now.
  for (const { port, id } of hosts) {
    expect(await call(port, TOKEN, id)).toBe(401);
    expect(await call(port, next ?? '', id)).toBe(200);
  }
});
