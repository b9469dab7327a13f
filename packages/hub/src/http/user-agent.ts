/** What a caller calls itself: shown to an operator who looks for whoever still sends an old token, so it is cut short and plain. */
import type { IncomingMessage } from 'node:http';
import { limits } from '@rollcall/core/limits';

export function userAgentOf({ headers }: IncomingMessage): string {
  return (headers['user-agent'] ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, limits.userAgentCharacters);
}
