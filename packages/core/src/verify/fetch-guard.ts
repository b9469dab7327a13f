/** A token guard for servers that take a `Request` and return a `Response`: Hono, Bun, Deno, workers. */
import { createGuard, type GuardOptions, isTokenRefusal, tokenRefusal, type VerifiedToken } from './guard.ts';
import type { TokenVerifier } from './token.ts';

/** `verified` is `undefined` on an open path. What the server passes beside the request goes on behind it. */
export type GuardedHandler<More extends readonly unknown[]> = (
  request: Request,
  verified: VerifiedToken | undefined,
  ...more: More
) => Response | Promise<Response>;

export function fetchGuard<More extends readonly unknown[]>(
  verifier: TokenVerifier,
  handler: GuardedHandler<More>,
  options: GuardOptions = {},
): (request: Request, ...more: More) => Promise<Response> {
  const guard = createGuard(verifier, options);
  return async (request, ...more) => {
    let verified: VerifiedToken | undefined;
    if (!guard.isOpen(new URL(request.url).pathname)) {
      try {
        // A header that came twice is one value here, with a comma and a space in it, which no token has.
        verified = guard.verifyValue(request.headers.get(guard.header));
      } catch (error) {
        if (!isTokenRefusal(error)) throw error;
        const { status, contentType, body } = tokenRefusal;
        return new Response(body, { status, headers: { 'content-type': contentType } });
      }
    }
    return handler(request, verified, ...more);
  };
}
