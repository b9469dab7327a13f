/** A host's listener as a user has it: real processes, the hub's certificate, a shared token, and the counts of what was presented. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unauthenticatedBody } from '@rollcall/wire';
import { expect, it } from 'vitest';
import { exchange } from './harness/exchange.ts';
import { freePort } from './harness/fleet.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet();
const TOKEN = 'a-shared-token-of-an-older-fleet';

const held = async (id: string) => (await fleet().agentStatus(id)).tokens?.length === 1;
const isOpen = async (id: string) => (await fleet().agentStatus(id)).listener?.open === true;

it('opens once the host holds something to demand, probes itself, and counts over a clean stop and over no other', async () => {
  const port = await freePort();
  const listen = ['--listen', `127.0.0.1:${port}`] as const;
  const call = (token: string) =>
    exchange({ port }, { method: 'GET', path: '/v1/host', headers: [['X-Node-Token', token]] }, fleet().recorder);
  const token = fleet().write('agent-1.token', await fleet().addHost('agent-1'));
  const first = fleet().startAgent('agent-1', '--enrol', token, ...listen);
  await fleet().waitUntil('the listener is open', () => isOpen('agent-1'));
  // Of a command alone: nobody holds a token yet, so none is taken.
  expect((await call(TOKEN)).status).toBe(401);

  const file = fleet().write('shared', `${TOKEN}\n`);
  expect((await fleet().rollcall('secret', 'import', 'api', '--file', file, '--holders', 'all')).code).toBe(0);
  await fleet().waitUntil('the host holds the token', () => held('agent-1'));
  expect(await call(TOKEN)).toMatchObject({ status: 200 });
  expect(await call(`${TOKEN}x`)).toMatchObject({ status: 401, body: unauthenticatedBody });
  const probed = await fleet().rollcall('agent', 'probe', '--state', fleet().stateOf('agent-1'), '--json');
  expect(probed.code).toBe(0);
  expect(probed.json()).toMatchObject({ probes: [{ secret: 'api', takes: [1], randomRefused: true, passed: true }] });

  const path = join(fleet().stateOf('agent-1'), 'counters');
  const kept = () =>
    (JSON.parse(readFileSync(path, 'utf8')) as { counters: { id: string; hits: { count: number }[] }[] }).counters[0];
  await first.kill('SIGTERM');
  const before = kept();
  expect(before?.hits).toMatchObject([{ count: 1 }]);

  const second = fleet().startAgent('agent-1', ...listen);
  await fleet().waitUntil('the listener is open again', () => isOpen('agent-1'));
  expect(existsSync(path)).toBe(false);
  expect((await call(TOKEN)).status).toBe(200);
  await second.kill('SIGTERM');
  expect(kept()).toMatchObject({ id: before?.id, hits: [{ count: 2 }] });

  const third = fleet().startAgent('agent-1', ...listen);
  await fleet().waitUntil('the listener is open once more', () => isOpen('agent-1'));
  expect((await call(TOKEN)).status).toBe(200);
  await third.kill('SIGKILL');
  expect(existsSync(path)).toBe(false);
  const fourth = fleet().startAgent('agent-1', ...listen);
  await fleet().waitUntil('it is open after the kill', () => isOpen('agent-1'));
  await fourth.kill('SIGTERM');
  expect(kept()?.hits).toMatchObject([{ count: 0 }]);
  expect(kept()?.id).not.toBe(before?.id);
});
