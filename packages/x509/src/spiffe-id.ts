/** SPIFFE ids as they stand in certificates (SPIFFE-ID specification §2). */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';

export interface SpiffeId {
  readonly uri: string;
  readonly trustDomain: string;
  /** Empty, or begins with `/`. */
  readonly path: string;
}

const TRUST_DOMAIN = /^[a-z0-9._-]{1,255}$/;
const PATH_SEGMENT = /^[A-Za-z0-9._-]+$/;
const SCHEME = 'spiffe://';

/** A SPIFFE id, or `malformed_spiffe_id`: no escapes, no query, no empty, `.` or `..` segment. */
export function parseSpiffeId(uri: string): SpiffeId {
  if (uri.length > limits.spiffeIdCharacters || !uri.startsWith(SCHEME)) throw new RollcallError('malformed_spiffe_id');
  const [trustDomain = '', ...segments] = uri.slice(SCHEME.length).split('/');
  if (!TRUST_DOMAIN.test(trustDomain) || !segments.every(isPathSegment)) throw new RollcallError('malformed_spiffe_id');
  return { uri, trustDomain, path: segments.map((segment) => `/${segment}`).join('') };
}

/** The id of the trust domain itself, as an authority carries it. */
export function trustDomainId(trustDomain: string): string {
  const uri = `${SCHEME}${trustDomain}`;
  if (parseSpiffeId(uri).path !== '') throw new RollcallError('malformed_spiffe_id');
  return uri;
}

/** The id of the hub: what an agent accepts, exactly (design 6). */
export function hubId(trustDomain: string): string {
  return `${trustDomainId(trustDomain)}/hub`;
}

/** The id of a push host's listener: what the hub accepts when it calls that host, exactly. `host` is a host id. */
export function listenerId(trustDomain: string, host: string): string {
  return parseSpiffeId(`${trustDomainId(trustDomain)}/host/${host}/listener`).uri;
}

function isPathSegment(segment: string): boolean {
  return PATH_SEGMENT.test(segment) && segment !== '.' && segment !== '..';
}
