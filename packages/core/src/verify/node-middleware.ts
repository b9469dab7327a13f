/** A token guard for `node:http`, Connect and Express. */
import { createGuard, type Guarded, type GuardOptions, isTokenRefusal, tokenRefusal } from './guard.ts';
import type { TokenVerifier } from './token.ts';

/** What is looked at of a `http.IncomingMessage`, or of what a framework has made of it. */
export interface NodeRequest extends Guarded {
  readonly url?: string | undefined;
  /** Of Connect and Express: the target before they took the place of a mounted handler from it. */
  readonly originalUrl?: string;
  /** Of Express: what it took. */
  readonly baseUrl?: string;
  readonly rawHeaders: readonly string[];
}

/** What is done with a `http.ServerResponse`. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string | number>): { end(body: string): unknown };
}

export type NodeMiddleware = (request: NodeRequest, response: NodeResponse, next: () => void) => void;

/**
 * Calls `next` for an open path, and for a request with a token that is accepted: then `request.rollcall` says which. Everything else
 * is answered 401. A WebSocket upgrade goes by no middleware: guard its event by itself.
 */
export function nodeMiddleware(verifier: TokenVerifier, options: GuardOptions = {}): NodeMiddleware {
  const guard = createGuard(verifier, options);
  return (request, response, next) => {
    request.rollcall = undefined;
    // By where it will be routed and by where it came in: a handler that is mounted at /v1 sees /v1/healthz as /healthz.
    const routed = `${request.baseUrl ?? ''}${request.url ?? ''}`;
    if (!guard.isOpen(routed) || !guard.isOpen(request.originalUrl ?? routed)) {
      try {
        request.rollcall = guard.verifyRaw(request.rawHeaders);
      } catch (error) {
        if (!isTokenRefusal(error)) throw error;
        refuse(response);
        return;
      }
    }
    next();
  };
}

function refuse(response: NodeResponse): void {
  const { status, contentType, body } = tokenRefusal;
  response.writeHead(status, { 'content-type': contentType, 'content-length': body.length }).end(body);
}
