/** Names of hosts, secrets and purposes (design 3). None can hold a separator of any statement that is signed or MACed. */
import { RollcallError } from '../errors.ts';
import { limits } from '../limits.ts';

const HOST_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const SECRET_NAME = /^[a-z0-9-]+$/;

export function isHostId(text: unknown): text is string {
  return typeof text === 'string' && text.length <= limits.hostIdCharacters && HOST_ID.test(text);
}

/** The host id, byte for byte as given; throws `malformed_host_id`. */
export function parseHostId(text: unknown): string {
  if (!isHostId(text)) throw new RollcallError('malformed_host_id');
  return text;
}

/** The name of a secret, `master` included; throws `malformed_secret_name`. */
export function parseSecretName(text: unknown): string {
  if (!isSecretName(text)) throw new RollcallError('malformed_secret_name');
  return text;
}

/** What a derived key or a challenge is for. Same grammar as secret names (design 11). */
export function parsePurpose(text: unknown): string {
  if (!isSecretName(text)) throw new RollcallError('malformed_secret_name', { what: 'purpose' });
  return text;
}

function isSecretName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= limits.secretNameCharacters && SECRET_NAME.test(text);
}
