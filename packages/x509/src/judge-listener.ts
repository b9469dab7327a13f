/**
 * Judges the certificate of a push host's listener: by the hub, after the handshake and before it sends a byte; and by the host
 * itself, before it puts into force what it was issued (design 6).
 */
import { equalBytes } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { assertLeaf, type LeafReason } from './assert-leaf.ts';
import { listenerId } from './spiffe-id.ts';
import { type ChainReason, type ChainRequest, isWithinDates, verifyChain } from './verify-chain.ts';

export type ListenerUntrustedReason = ChainReason | LeafReason | 'dates' | 'other_key';

export interface JudgedListener {
  /** Lower-case hex. */
  readonly serial: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * The listener of exactly this host, or `listener_untrusted` with `details.reason`: chained to a root of the bundle, the one
 * URI `spiffe://<trust domain>/host/<host>/listener`, serverAuth, valid at `nowMs`, and over `spkiDer` where one is given.
 */
export function judgeListenerCertificate(
  request: ChainRequest & { readonly host: string; readonly nowMs: number; readonly spkiDer?: Uint8Array },
): JudgedListener {
  const path = verifyChain(request, untrusted);
  const [leaf] = path;
  assertLeaf(leaf, { id: listenerId(request.trustDomain, request.host), usage: 'serverAuth' }, untrusted);
  if (request.spkiDer !== undefined && !equalBytes(leaf.spkiDer, request.spkiDer)) throw untrusted('other_key');
  if (!isWithinDates(path, request.nowMs)) throw untrusted('dates');
  return { serial: leaf.serial, notBeforeMs: leaf.notBeforeMs, notAfterMs: leaf.notAfterMs };
}

function untrusted(reason: ListenerUntrustedReason, cause?: unknown): RollcallError<'listener_untrusted'> {
  return new RollcallError('listener_untrusted', { reason }, { cause });
}
