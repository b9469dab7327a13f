/** `GET /v1/whoami`: whom the credentials of a request prove. The least that a shared token opens, and what a probe asks. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Rung } from '@rollcall/core/rungs';
import { routes } from '@rollcall/wire';
import { type AuthenticatedHost, authenticateHost, authenticateMember, isMember } from '../authenticate.ts';
import type { Hub } from '../hub.ts';
import { seeHostToken } from '../operations/see-host-token.ts';
import { noteTokens } from '../operations/token/note-tokens.ts';
import { noteRung } from './note-rung.ts';
import { routeActs } from './route-acts.ts';
import { sentFrom } from './sent-from.ts';

export interface WhoAmI {
  rung: Rung;
  host: string | null;
  declaredHost: string | null;
}

/** Throws `unauthenticated`, or `unavailable` when the hub cannot tell. */
export async function whoAmI(hub: Hub, request: IncomingMessage): Promise<WhoAmI> {
  const isProbe = isMarked(request.headers['x-rollcall-probe'], hub.tokenProbes.mark);
  // What the hub asks itself is which versions it takes, also of the tokens that come beside a bearer where the rung is closed.
  const act = isProbe ? 'probe' : routeActs.whoAmI;
  const who = await (isMember(request)
    ? authenticateMember(hub, request, act)
    : authenticateHost(hub, request, routeActs.whoAmI));
  if (!isProbe) {
    noteRung(hub, who, request, routes.whoAmI.path);
    noteTokens(hub, who, sentFrom(hub, request, routes.whoAmI.path));
  }
  if (who.rung === 'host-token') await seeHostToken(hub, who);
  return { rung: who.rung, ...hostOf(who) };
}

type Who = AuthenticatedHost | Awaited<ReturnType<typeof authenticateMember>>;

function hostOf(who: Who): Pick<WhoAmI, 'host' | 'declaredHost'> {
  if (who.rung !== 'fleet-token') return { host: who.entry.id, declaredHost: null };
  return { host: null, declaredHost: who.declaredHost };
}

/** Whoever could guess it could send an old token uncounted. */
function isMarked(presented: string | string[] | undefined, mark: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(typeof presented === 'string' ? presented : ''), digest(mark));
}
