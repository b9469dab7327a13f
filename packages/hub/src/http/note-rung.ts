/** Notes who was let in by a rung that may be closed, the moment it was. What was decided for a host alone is no matter of the fleet. */
import type { IncomingMessage } from 'node:http';
import type { AuthenticatedHost, AuthenticatedMember } from '../authenticate.ts';
import type { Hub } from '../hub.ts';
import { sentFrom } from './sent-from.ts';

export function noteRung(
  hub: Pick<Hub, 'roll' | 'rungSightings' | 'clock'>,
  who: AuthenticatedHost | AuthenticatedMember,
  request: IncomingMessage,
  route: string,
): void {
  // There is nothing above it that a host could climb to; and a beat of it is what every host sends.
  if (who.rung === 'derived') return;
  const host = who.rung === 'fleet-token' ? who.declaredHost : who.entry.id;
  if (host !== null && hub.roll.get(host)?.rungs[who.rung] !== undefined) return;
  const source = { ...sentFrom(hub, request, route), host };
  hub.rungSightings.note(who.rung, who.rung === 'fleet-token' ? source : { ...source, proven: true });
}
