/** Asks verifiers of shared tokens what a caller would ask, over their real listeners (design 5, Probes). */
import { request } from 'node:https';
import { RollcallError } from '@rollcall/core/errors';
import { deriveHostKeys, encodeToken } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { commandVersions } from '@rollcall/core/rotation';
import { agentRoutes, ownAddress, parseListenAddress, routes } from '@rollcall/wire';
import { hubId } from '@rollcall/x509';
import type { Hub } from '../hub.ts';
import { toMasterGeneration } from '../live-generations.ts';
import type { AskVerifier, ProbedHost } from '../token-probes.ts';
import type { HostClient } from './host-client.ts';

/** `fleetAddress` as `HOST:PORT`, where this replica is bound. */
export function createAskVerifier(hub: Hub, client: HostClient, fleetAddress: string): AskVerifier {
  return {
    replica: (token, as = 'probe') => askReplica(hub, fleetAddress, { token, as }),
    host: (target, token) => askHost(hub, client, target, token),
  };
}

/**
 * Beside a command bearer that the listener was seen to take alone: then a refusal is about the token. Rejects with
 * `commands_refused` where it takes none.
 */
async function askHost(
  hub: Hub,
  client: HostClient,
  { host, address }: ProbedHost,
  token: string,
): Promise<'taken' | 'refused'> {
  const entry = hub.roll.get(host);
  const { method, path } = agentRoutes.echo;
  const live = [hub.generations.current, hub.generations.previous].flatMap((generation) =>
    generation !== undefined && hub.generations.isLive(generation.version) ? [generation.version] : [],
  );
  for (const version of commandVersions(entry?.wantedPresent ?? 0, live)) {
    const keys = deriveHostKeys(toMasterGeneration(hub.generations.read(version)), host, entry?.life ?? 0, ['command']);
    const headers = {
      authorization: `Bearer ${encodeToken('rcc', keys['command'] as Uint8Array)}`,
      'x-rollcall-host': host,
      'x-rollcall-probe': '1',
    };
    const ask = async (more: Readonly<Record<string, string>>) =>
      verdictOf((await client.request({ host, address, method, path, headers: { ...headers, ...more } })).status);
    if ((await ask({})) === 'taken') return ask({ 'x-node-token': token });
  }
  throw new RollcallError('commands_refused', { host });
}

function verdictOf(status: number): 'taken' | 'refused' {
  if (status === 200) return 'taken';
  if (status === 401) return 'refused';
  throw new RollcallError('listener_answer_unusable', { status });
}

/** `address` as `HOST:PORT`, where it is bound. Rejects with `hub_unreachable`, `hub_timeout` or `hub_answer_unusable`. */
function askReplica(
  hub: Pick<Hub, 'identity' | 'tokenProbes'>,
  address: string,
  { token, as }: { readonly token: string; readonly as: 'probe' | 'caller' },
): Promise<'taken' | 'refused'> {
  const { trustDomain, bundle } = hub.identity;
  const { host, port } = ownAddress(parseListenAddress(address));
  const wanted = `URI:${hubId(trustDomain)}`;
  return new Promise((resolve, reject) => {
    const asked = request({
      host,
      port,
      method: routes.whoAmI.method,
      path: routes.whoAmI.path,
      headers: {
        'x-node-token': token,
        'user-agent': 'rollcall-probe',
        ...(as === 'probe' ? { 'x-rollcall-probe': hub.tokenProbes.mark } : {}),
      },
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

function toPem(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
}
