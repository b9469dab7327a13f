/** One request of a probe: over the real listener, as any caller makes it, and to nobody else than that listener. */
import { request } from 'node:http';
import { connect, type TLSSocket } from 'node:tls';
import { equalBytes } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { agentRoutes, type ListenAddress, unauthenticatedBody } from '@rollcall/wire';
import type { Asked } from '../listener/probe-plan.ts';

export interface ProbeTarget {
  readonly address: ListenAddress;
  /** DER of the certificate that the listener serves with: the token is shown to no other. */
  readonly leaf: Uint8Array;
  readonly nonce: string;
}

/** Rejects where what answers says neither yes nor the constant no. */
export async function askOwnListener({ address, leaf, nonce }: ProbeTarget, token: string): Promise<Asked> {
  const socket = await connectTo(address, leaf);
  try {
    return await exchange(socket, { 'x-node-token': token, 'x-rollcall-probe': nonce });
  } finally {
    socket.destroy();
  }
}

function connectTo({ host, port }: ListenAddress, leaf: Uint8Array): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    // Judged by its bytes below, before anything is sent: the names in it are for the hub.
    const socket = connect({
      host,
      port,
      minVersion: 'TLSv1.3',
      rejectUnauthorized: false,
      timeout: limits.probeTimeoutMs,
    });
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.once('error', fail);
    socket.once('timeout', () => fail(new Error('timeout')));
    socket.once('secureConnect', () => {
      const served = socket.getPeerCertificate().raw;
      if (served === undefined || !equalBytes(Uint8Array.from(served), leaf)) {
        fail(new RollcallError('listener_untrusted', { reason: 'other_key' }));
        return;
      }
      resolve(socket);
    });
  });
}

function exchange(socket: TLSSocket, headers: Readonly<Record<string, string>>): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        createConnection: () => socket,
        path: agentRoutes.echo.path,
        headers: { host: 'localhost', ...headers, connection: 'close' },
      },
      (answer) => {
        let body = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          body += part;
          if (body.length > limits.heartbeatBodyBytes) answer.destroy(new Error('too large'));
        });
        answer.once('error', reject);
        answer.once('end', () => {
          if (answer.statusCode === 200) resolve('taken');
          else if (answer.statusCode === 401 && body === unauthenticatedBody) resolve('refused');
          else reject(new Error(`status ${answer.statusCode}`));
        });
      },
    );
    asked.once('error', reject);
    socket.once('timeout', () => asked.destroy(new Error('timeout')));
    asked.end();
  });
}
