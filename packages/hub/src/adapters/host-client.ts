/**
 * The hub as the client of a push host: one question to its listener, at its registered address. OpenSSL's own verdict is not
 * asked for; the peer is judged after the handshake, and nothing is sent to one that is not the listener of exactly this host in
 * its present life (design 6). No connection is kept, and no redirect is followed.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { concatBytes } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Clock } from '@rollcall/core/ports';
import { parseListenAddress } from '@rollcall/wire';
import { judgeListenerCertificate, presentedChain } from '@rollcall/x509';
import type { Hub } from '../hub.ts';
import { findCertificate } from '../store/certificates.ts';
import { findHost } from '../store/hosts.ts';

export interface HostRequest {
  /** Whom the answer must come from. */
  readonly host: string;
  /** `HOST:PORT`, as it is registered. */
  readonly address: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface HostAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

export interface HostClient {
  /** Rejects with `listener_unreachable`, `listener_timeout`, `listener_untrusted` or `listener_answer_unusable`; an answer of any status is one. */
  request(request: HostRequest): Promise<HostAnswer>;
}

export interface HostTimeouts {
  readonly connectTimeoutMs: number;
  readonly hostAnswerTimeoutMs: number;
}

export function createHostClient(
  hub: Pick<Hub, 'db' | 'vault' | 'clock' | 'authority'>,
  clock: Pick<Clock, 'after'>,
  timeouts: HostTimeouts = limits,
): HostClient {
  return {
    async request(request) {
      const socket = await open(request.address, clock, timeouts.connectTimeoutMs);
      try {
        const { trustDomain, certificateDer } = hub.authority;
        const { serial } = judgeListenerCertificate({
          chain: presentedChain(socket),
          bundle: [certificateDer],
          trustDomain,
          host: request.host,
          nowMs: hub.clock.now(),
        });
        await assertPresentLife(hub, request.host, serial);
        return await exchange(socket, request, clock, timeouts.hostAnswerTimeoutMs);
      } finally {
        socket.destroy();
      }
    },
  };
}

/** A certificate of a former life, or one that is on no record, is a thief's or a forger's, however good its chain is. */
async function assertPresentLife({ db, vault }: Pick<Hub, 'db' | 'vault'>, id: string, serial: string): Promise<void> {
  const host = await findHost(db, vault, id);
  const certificate = await findCertificate(db, vault, serial);
  if (certificate === undefined || certificate.host !== id)
    throw new RollcallError('listener_untrusted', { reason: 'not_on_record' });
  if (host?.status !== 'active') throw new RollcallError('listener_untrusted', { reason: 'host_not_active' });
  if (certificate.life !== host.life) throw new RollcallError('listener_untrusted', { reason: 'former_life' });
}

/** A connection whose handshake is done, and whose peer nobody has judged. */
function open(address: string, clock: Pick<Clock, 'after'>, timeoutMs: number): Promise<TLSSocket> {
  const { host, port } = parseListenAddress(address);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      minVersion: 'TLSv1.3',
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: false,
    });
    const cancel = clock.after(timeoutMs, () => fail(new RollcallError('listener_timeout', { phase: 'connect' })));
    const fail = (error: unknown) => {
      cancel();
      socket.destroy();
      reject(translate(error));
    };
    socket.on('error', fail);
    socket.once('close', () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    socket.once('secureConnect', () => {
      cancel();
      resolve(socket);
    });
  });
}

function exchange(
  socket: TLSSocket,
  { address, method, path, headers, body }: HostRequest,
  clock: Pick<Clock, 'after'>,
  timeoutMs: number,
): Promise<HostAnswer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      createConnection: () => socket,
      method,
      path,
      headers: {
        ...headers,
        host: address,
        connection: 'close',
        ...(body === undefined ? {} : { 'content-length': body.length }),
      },
      maxHeaderSize: limits.headerBytes,
    });
    // One deadline over all of it: an answer that drips a byte at a time ends as well.
    const cancel = clock.after(timeoutMs, () =>
      sent.destroy(new RollcallError('listener_timeout', { phase: 'answer' })),
    );
    const end = (act: () => void) => {
      cancel();
      act();
    };
    sent.on('error', (error) => end(() => reject(translate(error))));
    sent.once('response', (response) => {
      readAnswer(response).then(
        (answer) => end(() => resolve(answer)),
        (error: unknown) => end(() => reject(translate(error))),
      );
    });
    sent.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<HostAnswer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > limits.hostAnswerMaxBytes)
      throw new RollcallError('listener_answer_unusable', { reason: 'too large' });
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, body: concatBytes(...chunks) };
}

function translate(error: unknown): RollcallError {
  if (isRollcallError(error)) return error;
  const code = (error as { readonly code?: unknown }).code;
  const cause = typeof code === 'string' ? code : 'unknown';
  // What is no HTTP, or has too many headers: llhttp's codes.
  if (cause.startsWith('HPE_'))
    return new RollcallError('listener_answer_unusable', { reason: cause }, { cause: error });
  return new RollcallError('listener_unreachable', { cause }, { cause: error });
}
