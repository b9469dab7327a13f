/** A network that the thief owns: a TCP relay between a host and the hub. Of what is said in TLS it sees nothing. */
import { connect, createServer, type Socket } from 'node:net';
import type { NetworkMode } from './messages.ts';

export interface Network {
  readonly port: number;
  set(mode: NetworkMode, options: { readonly letPass: number; readonly divertPort: number }): void;
}

export async function openNetwork(hubPort: number): Promise<Network> {
  let mode: NetworkMode = 'carry';
  let target = hubPort;
  let passing = 0;
  let waiting: readonly Socket[] = [];
  const standing = new Map<Socket, Socket>();

  const carry = (host: Socket) => {
    const peer = connect({ port: target, host: '127.0.0.1', noDelay: true });
    standing.set(host, peer);
    host.pipe(peer).pipe(host);
    host.once('close', () => {
      standing.delete(host);
      peer.destroy();
    });
    peer.on('error', () => host.destroy());
  };
  const server = createServer({ noDelay: true }, (host) => {
    host.on('error', () => host.destroy());
    if (mode !== 'hold' || passing > 0) carry(host);
    else waiting = [...waiting, host];
    passing -= 1;
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  return {
    port,
    set: (next, { letPass, divertPort }) => {
      mode = next;
      passing = letPass;
      target = next === 'divert' ? divertPort : hubPort;
      if (next === 'hold') return;
      if (next === 'divert') for (const [host, peer] of standing) cut(host, peer);
      for (const host of waiting) carry(host);
      waiting = [];
    },
  };
}

/** Ended, not reset, and nothing more goes to the hub: what was on its way to a host that sleeps is there when it wakes. */
function cut(host: Socket, peer: Socket): void {
  host.unpipe(peer);
  host.resume();
  host.end();
  peer.end();
}
