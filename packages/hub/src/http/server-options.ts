/** Options that every HTTP listener of the hub shares (design 2, traps; design 8, limits). */
import { constants } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { limits } from '@rollcall/core/limits';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServerTls } from '../server-certificate.ts';
import { answerError } from './errors.ts';

/** Node's 5 s keep-alive is shorter than a heartbeat: every beat would be a handshake. And its check interval lets slow senders wait. */
export const httpOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveMs,
  connectionsCheckingInterval: limits.connectionsCheckingMs,
} as const;

/** TLS 1.3 on every TCP listener. A handshake that is not ended holds a connection, by default for two minutes. */
export const tlsOptions = {
  ...httpOptions,
  minVersion: 'TLSv1.3',
  handshakeTimeout: limits.handshakeTimeoutMs,
  // A resumed connection has no peer certificate to judge, and resuming saves almost nothing (design 2, traps).
  secureOptions: constants.SSL_OP_NO_TICKET,
} as const;

/** From the next connection on; nothing of those that are open changes. */
export function showCertificate(app: FastifyInstance, { certificate, key }: ServerTls): void {
  (app.server as unknown as TlsServer).setSecureContext({ ...tlsOptions, key, cert: certificate });
}

/** Of every Fastify instance: nobody sees an error in the framework's words, or in none. */
export const fastifyOptions = {
  // Where Fastify makes the server it sets these once more, from options of its own: their defaults are no limit, and 72 s.
  requestTimeout: httpOptions.requestTimeout,
  keepAliveTimeout: httpOptions.keepAliveTimeout,
  connectionTimeout: limits.socketSilentMs,
  clientErrorHandler: closeWithStatus,
  // A path that cannot be decoded never gets as far as the error handler of the instance.
  frameworkErrors: answerFrameworkError,
  // Host ids are longer than the router's default; how long one may be is judged where it is parsed.
  routerOptions: { maxParamLength: limits.headerBytes },
};

/**
 * What no option of the framework reaches. Node drops headers after the two thousandth without a word, and a second credential
 * among them; how large they are is bounded, so their number is.
 */
export function harden(server: Server): void {
  server.maxHeadersCount = 0;
  server.timeout = limits.socketSilentMs;
}

/** A value of the wrong type is refused, never converted; a field that is not known is ignored (design 11). */
export const ajvOptions = { coerceTypes: false, removeAdditional: false, useDefaults: false, strict: false } as const;

const statusOfParserError: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * What is no request has nobody to answer a problem document to: one short status, and the connection is closed at once. To
 * wait until the other side closes it too would let it hold the connection for as long as it likes.
 */
function closeWithStatus({ code = '' }: Error & { code?: string }, socket: Socket): void {
  const status = statusOfParserError[code] ?? (code.startsWith('HPE_') ? '400 Bad Request' : undefined);
  // Whatever else went wrong went wrong below HTTP: in a handshake that never ended a status would wait for its end.
  if (status === undefined || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
}

function answerFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  answerError(silent, error, request, reply);
}

/** Errors of the framework before routing are about the request, never about the hub: there is nothing to log. */
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function nothing(): void {}
