/** Options that every HTTP listener of the hub shares (design 2, traps; design 8, limits). */
import { limits } from '@rollcall/core/limits';

/** Node's 5 s keep-alive is shorter than a heartbeat: every beat would be a handshake. And its check interval lets slow senders wait. */
export const httpOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveMs,
  connectionsCheckingInterval: limits.connectionsCheckingMs,
} as const;

/** Where Fastify makes the server it sets these once more, from options of its own: their defaults are no limit, and 72 s. */
export const fastifyOptions = {
  requestTimeout: httpOptions.requestTimeout,
  keepAliveTimeout: httpOptions.keepAliveTimeout,
} as const;

/** A value of the wrong type is refused, never converted; a field that is not known is ignored (design 11). */
export const ajvOptions = { coerceTypes: false, removeAdditional: false, useDefaults: false, strict: false } as const;
