/** Who can hold a shared token: a host, every host of the roll, or a caller that is no host (design 5, Who presented it). */
import { RollcallError } from '../errors.ts';
import { parseHostId, parseSecretName } from './names.ts';

/** The word for every host of the roll, also those to come. A host may be called so, too: whoever reads it says which is meant. */
export const ALL_HOSTS = 'all';

/** Before the name of a caller that is no host. A host id has no colon. */
export const CALLER_PREFIX = 'caller:';

/** Throws `malformed_member`. */
export function parseMember(text: unknown): string {
  try {
    if (typeof text !== 'string' || !text.startsWith(CALLER_PREFIX)) return parseHostId(text);
    parseSecretName(text.slice(CALLER_PREFIX.length));
    return text;
  } catch (cause) {
    throw new RollcallError('malformed_member', {}, { cause });
  }
}
