/** One request of a probe: over the real listener, as any caller makes it, and to nobody else than that listener. */
import { request } from 'node:http';
import { connect, type TLSSocket } from 'node:tls';
import { equalBytes } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { agentRoutes, type ListenAddress, unauthenticatedBody } from '@rollcall/wire';
import type { Asked } from '../listener/probe-plan.ts';

export interface ProbeTarget {
  readonly address: ListenAddress;
  /** DER of the certificate that the listener serves with: the token is shown to no other. */
  readonly leaf: Uint8Array;
  readonly nonce: string;
}

/** Rejects where what answers says neither yes nor the constant no, and where nothing does: each with its code. */
export async function askOwnListener({ address, leaf, nonce }: ProbeTarget, token: string): Promise<Asked> {
  const socket = await connectTo(address, leaf).catch(refuseAs);
  try {
    return await exchange(socket, { 'x-node-token': token, 'x-rollcall-probe': nonce }).catch(refuseAs);
  } finally {
    socket.destroy();
  }
}

/** A connection that is refused, or cut before the answer: the listener was closed meanwhile, or has none to spare. */
function refuseAs(error: unknown): never {
  if (isRollcallError(error)) throw error;
  const cause = (error as { readonly code?: string }).code ?? 'unknown';
  throw new RollcallError('listener_unreachable', { cause }, { cause: error });
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
    socket.once('timeout', () => fail(new RollcallError('listener_timeout')));
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
          if (body.length > limits.heartbeatBodyBytes)
            answer.destroy(new RollcallError('listener_answer_unusable', { reason: 'too_large' }));
        });
        answer.once('error', reject);
        answer.once('end', () => {
          if (answer.statusCode === 200) resolve('taken');
          else if (answer.statusCode === 401 && body === unauthenticatedBody) resolve('refused');
          else reject(new RollcallError('listener_answer_unusable', { status: answer.statusCode ?? 0 }));
        });
      },
    );
    asked.once('error', reject);
    socket.once('timeout', () => asked.destroy(new RollcallError('listener_timeout')));
    asked.end();
  });
}
