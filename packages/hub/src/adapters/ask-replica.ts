/** Asks this very replica whether it takes a token, over its real fleet listener: what would be answered to a caller (design 5, Probes). */
import { request } from 'node:https';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { routes } from '@rollcall/wire';
import { hubId } from '@rollcall/x509';
import type { Hub } from '../hub.ts';
import { isWildcard, parseListenAddress } from '../listen-address.ts';

/** `address` as `HOST:PORT`, where it is bound. Rejects with `hub_unreachable`, `hub_timeout` or `hub_answer_unusable`. */
export function askReplica(
  hub: Pick<Hub, 'identity' | 'tokenProbes'>,
  address: string,
  token: string,
): Promise<'taken' | 'refused'> {
  const { trustDomain, bundle } = hub.identity;
  const at = parseListenAddress(address);
  const wanted = `URI:${hubId(trustDomain)}`;
  return new Promise((resolve, reject) => {
    const asked = request({
      host: isWildcard(at) ? loopbackOf(at.host) : at.host,
      port: at.port,
      method: routes.whoAmI.method,
      path: routes.whoAmI.path,
      headers: { 'x-node-token': token, 'x-rollcall-probe': hub.tokenProbes.mark, 'user-agent': 'rollcall-probe' },
      minVersion: 'TLSv1.3',
      ca: bundle.keys.map(({ x5c }) => toPem(x5c[0] ?? '')),
      // Whoever took this port in the meantime is not told a token.
      checkServerIdentity: (_name, { subjectaltname = '' }) =>
        subjectaltname.split(', ').includes(wanted) ? undefined : new RollcallError('hub_untrusted'),
      agent: false,
      timeout: limits.requestTimeoutMs,
    });
    asked.once('response', (response) => {
      response.resume();
      if (response.statusCode === 200) resolve('taken');
      else if (response.statusCode === 401) resolve('refused');
      else reject(new RollcallError('hub_answer_unusable', { status: response.statusCode ?? 0 }));
    });
    asked.once('timeout', () => asked.destroy(new RollcallError('hub_timeout')));
    asked.once('error', (cause) => {
      reject(cause instanceof RollcallError ? cause : new RollcallError('hub_unreachable', {}, { cause }));
    });
    asked.end();
  });
}

function loopbackOf(host: string): string {
  return host.includes(':') ? '::1' : '127.0.0.1';
}

function toPem(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
}
