/** Who takes the shared token in the demo, and by which authority a caller knows them. */
import { agentRoutes, routes, type TrustBundle } from '@rollcall/wire';
import type { Verifier } from './caller/present-token.ts';
import type { RobbedDemo } from './demo.ts';

export interface Verifiers {
  /** PEM. */
  readonly ca: string;
  readonly verifiers: readonly Verifier[];
}

export async function readVerifiers(demo: RobbedDemo): Promise<Verifiers> {
  const { cast, listen, hub, trustDomain } = demo;
  const ofHub = { name: 'hub', url: `${hub}${routes.whoAmI.path}`, id: `spiffe://${trustDomain}/hub` };
  const ofHosts = cast.push.map((host) => ({
    name: host,
    url: `https://${listen.get(host)}${agentRoutes.echo.path}`,
    id: `spiffe://${trustDomain}/host/${host}/listener`,
  }));
  return { ca: await readAuthority(demo), verifiers: [ofHub, ...ofHosts] };
}

/** From the hub that the hub-root file names, and from nobody else. */
async function readAuthority({ world: { io }, hub, spki }: RobbedDemo): Promise<string> {
  const { hostname, port } = new URL(hub);
  const late = new AbortController();
  const cancel = io.clock.after(ANSWER_MS, () => late.abort());
  const { body } = await io.send({
    to: { kind: 'tls', host: hostname, port: Number(port), spki: spki.map((text) => Buffer.from(text, 'base64url')) },
    method: routes.trustBundle.method,
    path: routes.trustBundle.path,
    headers: {},
    body: undefined,
    maxBytes: MOST_BYTES,
    signal: late.signal,
  });
  cancel();
  const { keys } = JSON.parse(Buffer.from(body).toString('utf8')) as TrustBundle;
  return keys.map(({ x5c: [der] }) => `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----\n`).join('');
}

const MOST_BYTES = 65_536;
const ANSWER_MS = 10_000;
