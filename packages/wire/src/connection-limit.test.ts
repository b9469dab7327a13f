import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { limitConnections } from './connection-limit.ts';

const PER_NETWORK = 4;
let server: Server;
let clients: Socket[];
/** As the server has them. */
let accepted: Socket[];

beforeEach(async () => {
  clients = [];
  accepted = [];
  server = createServer();
  limitConnections(server, PER_NETWORK);
  server.on('connection', (socket) => {
    if (socket.destroyed) return;
    socket.on('error', () => undefined);
    accepted.push(socket);
    socket.write('hello');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  for (const socket of clients) socket.destroy();
  for (const socket of accepted) socket.destroy();
  server.close();
  await once(server, 'close');
});

/** Whether it is held, from an address of loopback. */
async function open(localAddress: string): Promise<boolean> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  clients.push(socket);
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
}

async function openMany(localAddress: string, count: number): Promise<number> {
  const held = await Promise.all(Array.from({ length: count }, () => open(localAddress)));
  return held.filter(Boolean).length;
}

it('one network holds so many connections, and the others are let in', async () => {
  expect(await openMany('127.0.0.1', PER_NETWORK * 3)).toBe(PER_NETWORK);
  expect(await openMany('127.0.0.2', PER_NETWORK)).toBe(PER_NETWORK);
  expect(await open('127.0.0.2')).toBe(false);
  expect(await open('127.0.0.3')).toBe(true);
});

it('what is closed makes room for another', async () => {
  expect(await openMany('127.0.0.1', PER_NETWORK)).toBe(PER_NETWORK);
  expect(await open('127.0.0.1')).toBe(false);
  clients[0]?.destroy();
  await expect.poll(() => open('127.0.0.1')).toBe(true);
  expect(await open('127.0.0.1')).toBe(false);
});
