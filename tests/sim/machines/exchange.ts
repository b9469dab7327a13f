/** One request on its way to the hub, and what came of it: plain values, so that it can be delayed, doubled and recorded. */
import type { TransportAnswer, TransportRequest } from '@rollcall/core/ports';

export interface Request {
  /** Who sent it, by machine: the hub sees the address alone. */
  readonly from: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export type Outcome =
  | { readonly kind: 'answered'; readonly answer: TransportAnswer }
  | { readonly kind: 'failed'; readonly code: 'hub_unreachable' | 'hub_untrusted' };

export function toRequest(from: string, { path, headers, body }: TransportRequest): Request {
  return { from, path, headers, body: body ?? new Uint8Array() };
}

export function readJson(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}
