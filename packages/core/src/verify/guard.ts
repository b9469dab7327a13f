/**
 * What a guard in front of any HTTP server decides: let through by its path, let through by what it presented, or refused.
 * From the path and the headers alone, so that no body is read of a stranger (design 3, Verifier; design 8).
 */
import { RollcallError } from '../errors.ts';
import type { TokenRole, TokenVerifier } from './token.ts';

export interface GuardOptions {
  /** In which header the token comes. Default: `x-node-token`. */
  readonly header?: string;
  /** Paths that need no token, compared whole. Default: `/healthz`, `/readyz` and `/version`. */
  readonly open?: readonly string[];
}

/** What was verified of a request. Never the token. */
export interface VerifiedToken {
  readonly version: number;
  readonly role: TokenRole;
}

/** Where a guard leaves what it verified, on the request; `undefined` where nothing was, as on an open path. */
export interface Guarded {
  rollcall?: VerifiedToken | undefined;
}

export interface Guard {
  readonly header: string;
  /** `target` as it stands in the request line. */
  isOpen(target: string | undefined): boolean;
  /** Names and values in turn, as they came. Throws `unauthenticated`, also where the header came twice. */
  verifyRaw(rawHeaders: readonly string[]): VerifiedToken;
  verifyValue(presented: string | null | undefined): VerifiedToken;
}

/** Every refusal is this one (I13), whatever was wrong. */
export const tokenRefusal: TokenRefusal = {
  status: 401,
  contentType: 'application/json',
  body: '{"error":"node token invalid"}',
};

export interface TokenRefusal {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export function createGuard(verifier: TokenVerifier, options: GuardOptions = {}): Guard {
  const header = (options.header ?? 'x-node-token').toLowerCase();
  if (!HEADER_NAME.test(header)) throw new TypeError('token guard: this is not the name of a header');
  // A copy: what is judged below stays what it is.
  const open = [...(options.open ?? ['/healthz', '/readyz', '/version'])];
  for (const path of open) {
    if (!path.startsWith('/') || /[?#]/.test(path)) throw new TypeError('token guard: an open path is a whole path');
  }
  const verifyValue = (presented: string | null | undefined) => verifier.verify(presented ?? '');
  return {
    header,
    isOpen(target) {
      for (const path of open) if (target !== undefined && isOn(target, path)) return true;
      return false;
    },
    verifyRaw: (rawHeaders) => verifyValue(onlyValue(rawHeaders, header)),
    verifyValue,
  };
}

/** Whether this is what a refused caller is answered. A fault of the program is none of a caller. */
export function isTokenRefusal(error: unknown): boolean {
  return error instanceof RollcallError && error.code === 'unauthenticated';
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

const QUESTION_MARK = 0x3f;

/** By its length before anything else: most requests are on none of them. */
function isOn(target: string, path: string): boolean {
  return target === path || (target.charCodeAt(path.length) === QUESTION_MARK && target.startsWith(path));
}

/** Nothing where it came twice: two parsers on the way may differ in which of them counts. */
function onlyValue(rawHeaders: readonly string[], header: string): string {
  let found: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length !== header.length || name.toLowerCase() !== header) continue;
    if (found !== undefined) return '';
    found = rawHeaders[at + 1] as string;
  }
  return found ?? '';
}
