import { request } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { limits } from '@rollcall/core/limits';
import { afterEach, expect, it } from 'vitest';
import { createTestHub } from '../hub.fixture.ts';
import type { HubStatus } from '../hub-status.ts';
import { createTestTls } from './fleet-tls.fixture.ts';
import { createOperatorTcp } from './operator-listener.ts';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

it('over TCP gives one network a quarter of its connections, and lets the others in', async () => {
  const app = createOperatorTcp(await createTestHub(), createTestTls(), async () => [], {} as HubStatus);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  let cut = 0;
  const opened = limits.operatorConnectionsPerNetwork + 50;
  for (let at = 0; at < opened; at += 1) {
    const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.2' });
    socket.on('error', () => undefined).on('close', () => (cut += 1));
    sockets.push(socket);
  }
  const isOpening = () => sockets.some(({ connecting }) => connecting);
  await expect.poll(isOpening, { timeout: 10_000 }).toBe(false);
  await expect.poll(() => opened - cut, { timeout: 10_000 }).toBe(limits.operatorConnectionsPerNetwork);
  const status = await new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/v1/hosts', agent: false, rejectUnauthorized: false };
    request(options, (answer) => resolve(answer.resume().statusCode))
      .once('error', reject)
      .end();
  });
  expect(status).toBe(401);
  for (const socket of sockets) socket.destroy();
  await app.close();
});
