/** One HTTP request to a hub, on a connection of its own: over its Unix socket, or over TLS to a peer that was judged first. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { BeforeSecure } from '../connect-failure.ts';
import type { HubAddress, SendRequest, SocketAnswer, SocketRequest } from '../ports.ts';
import { readAll } from './node-io.ts';

export const sendToHub: SendRequest = async (request) => {
  const { to } = request;
  if (to.kind === 'socket') return exchange(request, { socketPath: to.path, agent: false });
  const socket = await connectToHub(to, request.signal);
  return exchange(request, { createConnection: () => socket }).finally(() => socket.destroy());
};

function exchange(
  { method, path, headers, body, maxBytes, signal }: SocketRequest,
  // Beside an agent, also beside none, Node does not look at `createConnection`, and connects by itself.
  way: { readonly socketPath: string; readonly agent: false } | { readonly createConnection: () => TLSSocket },
): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const request: ClientRequest = httpRequest(
      {
        ...way,
        method,
        path,
        headers: { ...headers, host: 'rollcall', connection: 'close' },
        maxHeaderSize: limits.headerBytes,
        signal,
      },
      (response) => {
        collect(response, maxBytes).then(resolve, reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/**
 * A connection to whoever holds one of the named keys. It is judged before the request is even made, so that no byte of a
 * token can have left for anybody else. No authority is asked, and no session resumed: a resumed one shows no certificate.
 */
function connectToHub(to: Extract<HubAddress, { kind: 'tls' }>, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: to.host,
      port: to.port,
      ...(isIP(to.host) === 0 ? { servername: to.host } : {}),
      minVersion: 'TLSv1.3',
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: false,
    });
    const settle = (error: Error | undefined) => {
      signal.removeEventListener('abort', aborted);
      socket.removeListener('close', closed);
      socket.removeListener('error', settle);
      if (error === undefined) return resolve(socket);
      socket.once('error', () => undefined);
      socket.destroy();
      reject(error);
    };
    const closed = () => settle(new BeforeSecure('closed before it was secure'));
    const aborted = () => settle(Object.assign(new Error('it took too long'), { code: 'ETIMEDOUT' }));
    if (signal.aborted) return aborted();
    signal.addEventListener('abort', aborted, { once: true });
    socket.once('error', (error: NodeJS.ErrnoException) =>
      settle(error.code === 'ECONNRESET' ? new BeforeSecure('reset before it was secure') : error),
    );
    socket.once('close', closed);
    socket.once('secureConnect', () => {
      try {
        assertHub(socket, to.spki);
      } catch (error) {
        return settle(error as Error);
      }
      settle(undefined);
    });
  });
}

function assertHub(socket: TLSSocket, known: readonly Uint8Array[]): void {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) throw new RollcallError('hub_untrusted', { reason: 'no certificate' });
  const spki = certificate.publicKey.export({ format: 'der', type: 'spki' });
  const shown = createHash('sha256').update(spki).digest();
  const isKnown = known.some((hash) => hash.length === shown.length && timingSafeEqual(hash, shown));
  if (!isKnown) {
    throw new RollcallError('hub_untrusted', {
      reason: 'another key',
      hint: 'Nothing was sent to it. Compare the hub-root file with what `rollcall hub status` prints on the hub itself.',
    });
  }
}

async function collect(response: IncomingMessage, maxBytes: number): Promise<SocketAnswer> {
  const body = await readAll(response, maxBytes);
  // A peer that dies in the middle ends the stream without an error on some versions of Node.
  if (!response.complete) throw Object.assign(new Error('the answer was cut off'), { code: 'ECONNRESET' });
  return { status: response.statusCode ?? 0, contentType: response.headers['content-type'] ?? '', body };
}
