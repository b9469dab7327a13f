/** What to do about a host that holds a gate closed: in the same words, whichever gate it is. */
import type { RollHost } from './roll.ts';

/** `null`: all that is kept of it can be read. */
export function hintForUnreadable({ id, unreadable }: RollHost): string | null {
  if (unreadable.length === 0) return null;
  const what = unreadable.join(', ');
  return `What the hub keeps of it (${what}) is damaged or forged: \`rollcall host reenrol ${id}\` begins it anew, or go on with \`rollcall rotation leave\`.`;
}

/** Why it cannot come along as it stands; `null`: nothing is in its way. */
export function hintForStanding(host: RollHost): string | null {
  if (host.status === 'invited') return 'It was never enrolled: enrol it, or `rollcall host remove` it.';
  if (host.status === 'suspended') return 'It is suspended: `rollcall host resume`, or go on with --leave.';
  if (host.pin !== 'usable')
    return 'It has no usable pin, so nothing can be sealed to it: enrol it or approve its key.';
  return host.refusal === null ? null : `It refuses the delivery: ${host.refusal}.`;
}

/** When it was heard last is all that is known: whether it holds what was sent to it shows when it uses it (I5). */
export function hintForSilence({ fresh, lastSeenAtMs }: RollHost, lacking: string): string {
  const lastSeen = lastSeenAtMs === null ? null : new Date(lastSeenAtMs).toISOString();
  // In the same words for all of them, so that a list says it once.
  if (fresh && lastSeen !== null) return `It is heard, ${lacking}.`;
  const silence = lastSeen === null ? 'was never heard' : `has not been heard since ${lastSeen}`;
  return `It ${silence}: wake it, wait, or go on with \`rollcall rotation leave\`.`;
}
