import { connect, type Socket } from 'node:net';
import { limits } from '@rollcall/core/limits';
import { afterEach, expect, it } from 'vitest';
import { tokenStep, tokenText } from '../listener/listener.fixture.ts';
import { createTestHost } from './host-listener.fixture.ts';
import { callTls, type Headers } from './tls-call.fixture.ts';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Of so many idle ones, which do not even begin a handshake, no more and no fewer are held. */
async function hold(port: number, localAddress: string, count: number, held: number): Promise<void> {
  const sockets: Socket[] = [];
  let cut = 0;
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  while (sockets.length < count) {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.on('error', () => undefined).on('close', () => (cut += 1));
    sockets.push(socket);
    // No more at once than the system queues.
    if (sockets.length % 100 === 0) await areConnected(sockets);
  }
  await areConnected(sockets);
  await expect.poll(() => count - cut, PATIENTLY).toBe(held);
}

const PATIENTLY = { timeout: 10_000 };

async function areConnected(sockets: readonly Socket[]): Promise<void> {
  await expect.poll(() => sockets.some(({ connecting }) => connecting), PATIENTLY).toBe(false);
}

it('whoever opens a thousand connections from one address gets a quarter of them, and everybody else is served', async () => {
  const at = createTestHost([tokenStep(1, [1])]);
  closing.push(() => at.listener.close());
  await at.confirm();
  const port = at.port();
  await hold(port, '127.0.0.2', limits.listenerConnections, limits.listenerConnectionsPerNetwork);
  expect(await callTls(port, '/v1/host', [['X-Node-Token', tokenText(1)]])).toMatchObject({ status: 200 });
  expect(await at.listener.probe()).toMatchObject({ probes: [{ passed: true }] });
});

it('an agent that cannot reach its own listener says so, and is well as soon as it can', async () => {
  const at = createTestHost([tokenStep(1, [1])]);
  closing.push(() => at.listener.close());
  await at.confirm();
  const all = limits.listenerConnectionsPerNetwork;
  await hold(at.port(), '127.0.0.1', all, all);
  await expect(at.listener.probe()).rejects.toMatchObject({ code: 'listener_unreachable' });
  await closing.pop()?.();
  await expect
    .poll(() => at.listener.probe().catch(() => undefined), PATIENTLY)
    .toMatchObject({ probes: [{ passed: true }] });
});

it('an expectation that nobody can meet is answered the same to everyone and everywhere, and counts for nothing', async () => {
  const at = createTestHost([tokenStep(1, [1])]);
  closing.push(() => at.listener.close());
  await at.confirm();
  const ask = async (path: string, headers: Headers, expectation: string) => {
    const { status, contentType, body } = await callTls(at.port(), path, [...headers, ['Expect', expectation]]);
    return [status, contentType, body];
  };
  const count = () => at.listener.reports.take().tokens?.[0]?.hits[0]?.count;
  for (const path of ['/v1/host', '/v1/nothing', '/healthz']) {
    for (const version of [1, 9]) {
      expect(await ask(path, [['X-Node-Token', tokenText(version)]], 'tea')).toEqual([417, undefined, '']);
    }
    expect(await ask(path, [], 'tea')).toEqual([417, undefined, '']);
  }
  expect(count()).toBe(0);
  // The control: what is met is met, and then its sender is asked who it is.
  expect((await ask('/v1/host', [['X-Node-Token', tokenText(1)]], '100-continue'))[0]).toBe(200);
  expect((await ask('/v1/host', [], '100-continue'))[0]).toBe(401);
  expect(count()).toBe(1);
});
