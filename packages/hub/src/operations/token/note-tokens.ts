/**
 * That a shared token was sent, which version and by whom, of everyone who was let in with one: whatever comes of the request, a caller
 * that sends the old version is one that would be refused without it (design 5, Counters).
 */
import type { HitSource } from '@rollcall/core/rotation';
import type { AuthenticatedHost, AuthenticatedMember } from '../../authenticate.ts';
import type { Hub } from '../../hub.ts';

/** Where it came from: that much of it is nobody's word. */
export type SentFrom = Pick<HitSource, 'address' | 'userAgent' | 'route' | 'atMs'>;

export function noteTokens(
  { tokenHits }: Pick<Hub, 'tokenHits'>,
  who: AuthenticatedHost | AuthenticatedMember,
  from: SentFrom,
): void {
  if (who.rung === 'fleet-token') {
    const { token, declaredHost } = who;
    tokenHits.note(token.secret, token.version, token.kind, { ...from, host: declaredHost });
    return;
  }
  for (const { secret, version, kind } of who.tokens) {
    tokenHits.note(secret, version, kind, { ...from, host: who.entry.id, proven: true });
  }
}
