/** Who acts: whoever may open the socket, or the holder of an `rco_` token over TCP, within its role (design 8). */
import { RollcallError } from '@rollcall/core/errors';
import { parseToken } from '@rollcall/core/keys';
import { type OperatorRole, operatorRoles, type RouteAuth } from '@rollcall/wire';
import type { FastifyRequest } from 'fastify';
import type { Hub } from '../../hub.ts';
import type { Actor } from '../../store/audit.ts';
import { findOperatorByDigest } from '../../store/operators.ts';
import { createStrangerLimit, publicRates } from '../stranger-limit.ts';

/** Throws `unauthenticated`, or `role_too_low` once it is clear who asks. */
export type Identify = (request: FastifyRequest, needed: RouteAuth) => Promise<Actor>;

const DECLARED = /^[A-Za-z0-9@._ -]{1,64}$/;

/** The file's mode has let the caller in. Node tells nothing else of a Unix peer, so the audit names it as declared. */
export const identifyBySocket: Identify = async (request) => {
  const declared = request.headers['x-rollcall-actor'];
  const id = typeof declared === 'string' && DECLARED.test(declared) ? declared : 'unknown';
  return { id, kind: 'operator', rung: 'unix-socket', verified: false };
};

/**
 * Looked up anew for each request: a token that was replaced or removed is dead at once. So every request costs the store a
 * look, whoever sends it, and is limited before.
 */
export function identifyByToken(hub: Pick<Hub, 'db' | 'vault' | 'clock'>): Identify {
  const limit = createStrangerLimit(publicRates);
  return async (request, needed) => {
    limit(request.ip, '', hub.clock.monotonic());
    const value = readBearer(request.raw.rawHeaders);
    const operator = await findOperatorByDigest(hub.db, hub.vault, hub.vault.digest(value ?? NO_TOKEN));
    if (value === undefined || operator === undefined) throw new RollcallError('unauthenticated');
    if (!isAtLeast(operator.role, needed)) throw new RollcallError('role_too_low', { role: operator.role, needed });
    return { id: operator.name, kind: 'operator', rung: 'operator-token', verified: true };
  };
}

const NO_TOKEN = new Uint8Array(32);

function readBearer(rawHeaders: readonly string[]): Uint8Array | undefined {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'authorization');
  const [only] = values;
  if (values.length !== 1 || only === undefined || !only.startsWith('Bearer ')) return undefined;
  try {
    return parseToken('rco', only.slice('Bearer '.length));
  } catch {
    return undefined;
  }
}

function isAtLeast(role: OperatorRole, needed: RouteAuth): boolean {
  const rank = (wanted: RouteAuth) => (operatorRoles as readonly RouteAuth[]).indexOf(wanted);
  return rank(needed) !== -1 && rank(role) >= rank(needed);
}
