/**
 * HTTPS to the hub as the `Transport` port. OpenSSL's own verdict is not asked for, since a wrong date hides a wrong key
 * there (design 2, traps): the peer is judged after the handshake by packages/x509, and http gets the connection only
 * then, so that not one byte reaches an impostor.
 */
import { hash } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, type AgentOptions, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { concatBytes } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Clock, Log, PeerTrust, Transport, TransportAnswer, TransportRequest } from '@rollcall/core/ports';
import { judgeHubCertificate, judgeHubSpki, presentedChain } from '@rollcall/x509';

export interface TlsTransport extends Transport {
  /** Ends all kept connections. */
  close(): void;
}

export interface TransportTimeouts {
  readonly connectTimeoutMs: number;
  readonly answerTimeoutMs: number;
}

export function createTlsTransport(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  timeouts: TransportTimeouts = limits,
): TlsTransport {
  let kept: { readonly trust: string; readonly sinceMs: number; readonly agent: JudgingAgent } | undefined;

  /** A kept connection was judged by the trust of its time: with another trust, or after an hour, it is judged anew. */
  const agentFor = (judge: PeerTrust): JudgingAgent => {
    const trust = trustKey(judge);
    const nowMs = clock.monotonic();
    if (kept === undefined || kept.trust !== trust || nowMs - kept.sinceMs > limits.connectionMaxAgeMs) {
      kept?.agent.destroy();
      kept = {
        trust,
        sinceMs: nowMs,
        agent: new JudgingAgent((socket) => judgePeer(socket, judge, clock, log), clock, timeouts),
      };
    }
    return kept.agent;
  };

  return {
    request: (request, signal) => exchange(request, agentFor(request.judge), clock, timeouts, signal),
    close: () => kept?.agent.destroy(),
  };
}

function exchange(
  { url, method, path, headers, tokens = [], body, judge: _judge }: TransportRequest,
  agent: Agent,
  clock: Clock,
  { connectTimeoutMs, answerTimeoutMs }: TransportTimeouts,
  signal: AbortSignal | undefined,
): Promise<TransportAnswer> {
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = httpsRequest(`${url.replace(/\/+$/, '')}${path}`, {
      agent,
      method,
      headers: {
        ...headers,
        ...(tokens.length === 0 ? {} : { 'x-node-token': [...tokens] }),
        ...(body === undefined ? {} : { 'content-length': body.length }),
      },
      maxHeaderSize: limits.headerBytes,
      ...(signal === undefined ? {} : { signal }),
    });
    // One deadline over everything: an answer that drips a byte at a time ends as well.
    const cancel = clock.after(connectTimeoutMs + answerTimeoutMs, () =>
      sent.destroy(new RollcallError('hub_timeout')),
    );
    const fail = (error: unknown) => {
      cancel();
      reject(translate(error));
    };
    sent.once('error', fail);
    sent.once('response', (response) => {
      readAnswer(response).then(
        (answer) => {
          cancel();
          resolve(answer);
        },
        (error: unknown) => {
          sent.destroy();
          fail(error);
        },
      );
    });
    sent.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<TransportAnswer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > limits.responseMaxBytes) throw new RollcallError('hub_answer_unusable', { reason: 'too large' });
    chunks.push(chunk);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (typeof value === 'string') headers[name] = value;
  }
  return { status: response.statusCode ?? 0, headers, body: concatBytes(...chunks) };
}

/** An https.Agent whose connections have been judged. Sessions are never resumed: a resumed one shows no certificate. */
class JudgingAgent extends Agent {
  readonly #judge: (socket: TLSSocket) => void;
  readonly #clock: Clock;
  readonly #connectTimeoutMs: number;

  constructor(judge: (socket: TLSSocket) => void, clock: Clock, timeouts: TransportTimeouts) {
    super({ keepAlive: true, maxSockets: 1, maxCachedSessions: 0 });
    this.#judge = judge;
    this.#clock = clock;
    this.#connectTimeoutMs = timeouts.connectTimeoutMs;
  }

  override createConnection(
    options: AgentOptions & { readonly host?: string; readonly port?: number | string },
    created?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const host = unbracketed(options.host ?? '');
    const socket = connect({
      host,
      port: Number(options.port ?? 443),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      minVersion: 'TLSv1.3',
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: false,
    });
    const cancel = this.#clock.after(this.#connectTimeoutMs, () =>
      finish(new RollcallError('hub_timeout', { phase: 'connect' })),
    );
    const finish = (error: Error | null) => {
      cancel();
      socket.removeListener('error', finish);
      socket.removeListener('close', closed);
      if (error !== null) {
        socket.once('error', () => undefined);
        socket.destroy();
      }
      created?.(error, socket);
    };
    const closed = () => finish(Object.assign(new Error('closed before it was secure'), { code: 'ECONNRESET' }));
    socket.once('error', finish);
    socket.once('close', closed);
    socket.once('secureConnect', () => {
      try {
        this.#judge(socket);
      } catch (error) {
        return finish(error as Error);
      }
      finish(null);
    });
    return undefined;
  }
}

/** Throws `hub_untrusted`. */
function judgePeer(socket: TLSSocket, judge: PeerTrust, clock: Clock, log: Log): void {
  const chain = presentedChain(socket);
  if (judge.kind === 'spki') {
    judgeHubSpki({ leaf: chain[0] ?? new Uint8Array(), spki: judge.spki });
    return;
  }
  const { trustDomain, roots, knownSpki } = judge;
  const judged = judgeHubCertificate({ chain, bundle: roots, trustDomain, knownSpki, nowMs: clock.now() });
  if (!judged.datesTrusted) {
    log.warn('the dates of the hub’s certificate do not fit this clock; its known key was taken instead', {
      code: 'hub_certificate_dates',
    });
  }
}

function trustKey(judge: PeerTrust): string {
  const digests = (list: readonly Uint8Array[]) => list.map((bytes) => hash('sha256', bytes, 'hex'));
  if (judge.kind === 'spki') return JSON.stringify(['spki', digests(judge.spki)]);
  return JSON.stringify([judge.trustDomain, digests(judge.roots), digests(judge.knownSpki)]);
}

function unbracketed(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

function translate(error: unknown): RollcallError {
  if (isRollcallError(error)) return error;
  const code = (error as { readonly code?: unknown }).code;
  const cause = typeof code === 'string' ? code : 'unknown';
  // What is no HTTP, or has too many headers: llhttp's codes.
  if (cause.startsWith('HPE_')) return new RollcallError('hub_answer_unusable', { reason: cause }, { cause: error });
  return new RollcallError('hub_unreachable', { cause }, { cause: error });
}
