/** How many connections one network may hold (design 8): whoever opens more gets none, and the others keep theirs. */
import type { Server, Socket } from 'node:net';
import { networkOf } from './network.ts';

/** What has no address is not of a network: a Unix socket, or who is gone already. */
export function limitConnections(server: Server, perNetwork: number): void {
  const held = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    if (socket.remoteAddress === undefined) return;
    const network = networkOf(socket.remoteAddress);
    const count = held.get(network) ?? 0;
    if (count >= perNetwork) {
      socket.destroy();
      return;
    }
    held.set(network, count + 1);
    socket.once('close', () => {
      const left = (held.get(network) ?? 1) - 1;
      if (left === 0) held.delete(network);
      else held.set(network, left);
    });
  });
}
