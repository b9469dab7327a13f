/** One request on its way to the hub, and what came of it: plain values, so that it can be delayed, doubled and recorded. */
import type { TransportAnswer, TransportRequest } from '@rollcall/core/ports';

export interface Request {
  /** Who sent it, by machine: the hub sees the address alone. */
  readonly from: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Each a line of its own. */
  readonly tokens: readonly string[];
  readonly body: Uint8Array;
}

export type Outcome =
  | { readonly kind: 'answered'; readonly answer: TransportAnswer }
  | { readonly kind: 'failed'; readonly code: 'hub_unreachable' | 'hub_untrusted' };

export function toRequest(from: string, { path, headers, tokens, body }: TransportRequest): Request {
  return { from, path, headers, tokens: tokens ?? [], body: body ?? new Uint8Array() };
}

export function readJson(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}

/** That its body names: of an enrolment, which has no header for it. */
export function claimedHost(request: Request): string | undefined {
  const { host } = readJson(request.body) as { host?: unknown };
  return typeof host === 'string' ? host : undefined;
}
