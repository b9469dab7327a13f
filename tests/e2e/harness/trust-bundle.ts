/** The trust bundle of a hub in the form that programs of the machine take: PEM. */
import { exchange } from './exchange.ts';
import type { Fleet } from './fleet.ts';

export async function readBundlePem(fleet: Pick<Fleet, 'port' | 'recorder'>): Promise<string> {
  const answer = await exchange({ port: fleet.port }, { method: 'GET', path: '/v1/trust-bundle' }, fleet.recorder);
  const { keys } = answer.json<{ readonly keys: readonly { readonly x5c: readonly string[] }[] }>();
  return keys.map(({ x5c: [der = ''] }) => toPem(der)).join('');
}

function toPem(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}
