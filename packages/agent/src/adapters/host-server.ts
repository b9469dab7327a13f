/** HTTP for the host's own routes: takes requests from a socket to the function that answers them, within bounds (design 8, limits). */
import { constants, createPrivateKey } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { limits } from '@rollcall/core/limits';
import { formatAddress, type ListenAddress, limitConnections } from '@rollcall/wire';
import { encodeCertificatePem } from '@rollcall/x509';
import { answerRequest, type HostAnswer, type HostView } from '../listener/answer-request.ts';
import type { ListenerCertificate } from '../state/listener-keys.ts';

/** Of every listener of the agent, as the hub has them. */
export const httpOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveMs,
  connectionsCheckingInterval: limits.connectionsCheckingMs,
} as const;

export interface AnsweredCall {
  readonly answer: HostAnswer;
  readonly address: string;
  readonly userAgent: string;
}

/** `view` is asked at each request, and `undefined` cuts the connection. `onAnswer` hears of every one, before it is sent. */
export function createHostHandler(
  view: () => HostView | undefined,
  onAnswer: (call: AnsweredCall) => void,
): RequestListener {
  return (request, response) => {
    const now = view();
    if (now === undefined) {
      request.socket.destroy();
      return;
    }
    const { method = '', url = '', rawHeaders, socket } = request;
    const answer = answerRequest(now, { method, target: url, rawHeaders });
    const userAgent = request.headers['user-agent'] ?? '';
    onAnswer({ answer, address: socket.remoteAddress ?? UNIX, userAgent });
    discardBody(request);
    send(response, method, answer);
  };
}

/** What a request without a network address came from. */
const UNIX = 'unix';

export interface TlsHostServer {
  /** Where it is bound. */
  readonly address: ListenAddress;
  /** For connections from now on. */
  certify(certificate: ListenerCertificate): void;
  /** At once: whoever is connected is cut off. */
  close(): Promise<void>;
}

/** TLS 1.3. Rejects with the system's error. */
export async function openTlsHostServer(
  { host, port }: ListenAddress,
  certificate: ListenerCertificate,
  handle: RequestListener,
): Promise<TlsHostServer> {
  const server = createServer(
    {
      ...httpOptions,
      ...toContext(certificate),
      handshakeTimeout: limits.handshakeTimeoutMs,
    },
    handle,
  );
  harden(server);
  limitConnections(server, limits.listenerConnectionsPerNetwork);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  server.removeAllListeners('error').on('error', () => undefined);
  const sockets = trackSockets(server);
  const bound = (server.address() as AddressInfo).port;
  return {
    address: { host, port: bound, text: formatAddress(host, bound) },
    certify: (next) => server.setSecureContext(toContext(next)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** What no option reaches: node drops headers after the two thousandth without a word, a second credential among them. */
export function harden(server: Server): void {
  server.maxHeadersCount = 0;
  server.maxConnections = limits.listenerConnections;
  server.timeout = limits.socketSilentMs;
  server.on('clientError', closeWithStatus);
}

const statusOfParserError: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

function closeWithStatus({ code = '' }: Error & { code?: string }, socket: Socket): void {
  const status = statusOfParserError[code] ?? (code.startsWith('HPE_') ? '400 Bad Request' : undefined);
  if (status === undefined || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
}

/** Also those that have not ended their handshake, which the server does not count as its connections. */
function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** No route needs one. What comes is let go by up to a bound, so that the answer arrives; then the connection is cut. */
function discardBody(request: IncomingMessage): void {
  let bytes = 0;
  request.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes > limits.heartbeatBodyBytes) request.destroy();
  });
  request.on('error', () => undefined);
}

function send(response: ServerResponse, method: string, { status, contentType, body }: HostAnswer): void {
  response.on('error', () => undefined);
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(method === 'HEAD' ? undefined : body);
}

/** All of it each time: what a new context does not say is as if it never was said. */
function toContext({ privateKey, chain }: ListenerCertificate) {
  const key = createPrivateKey({ key: Buffer.from(privateKey.reveal()), format: 'der', type: 'pkcs8' });
  return {
    key: key.export({ format: 'pem', type: 'pkcs8' }) as string,
    cert: chain.map(encodeCertificatePem).join(''),
    minVersion: 'TLSv1.3',
    // A resumed connection shows no certificate to judge, and resuming saves almost nothing (design 2, traps).
    secureOptions: constants.SSL_OP_NO_TICKET,
  } as const;
}
