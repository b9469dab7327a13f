/** Where a request came from, as it is noted of who sends an old token. */
import type { IncomingMessage } from 'node:http';
import type { Hub } from '../hub.ts';
import type { SentFrom } from '../operations/token/note-tokens.ts';
import { userAgentOf } from './user-agent.ts';

export function sentFrom({ clock }: Pick<Hub, 'clock'>, request: IncomingMessage, route: string): SentFrom {
  return {
    address: request.socket.remoteAddress ?? '',
    userAgent: userAgentOf(request),
    route,
    atMs: clock.now(),
  };
}
