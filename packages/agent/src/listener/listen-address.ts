/** Where the agent is to listen: `HOST:PORT`, `[IPv6]:PORT`; and where it finds itself there. */
import { isIP } from 'node:net';
import { RollcallError } from '@rollcall/core/errors';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const FORM = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]{1,253})):([0-9]{1,5})$/;

/** Throws `malformed_address`. */
export function parseListenAddress(text: string): ListenAddress {
  const [, v6, name, digits] = FORM.exec(text) ?? [];
  const host = v6 ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (v6 !== undefined && isIP(v6) !== 6)) {
    throw new RollcallError('malformed_address');
  }
  return { host, port };
}

export function formatListenAddress({ host, port }: ListenAddress): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** On this machine: loopback, where it listens on every address. */
export function ownAddress({ host, port }: ListenAddress): ListenAddress {
  const isWildcard = isIP(host) !== 0 && /^[0:.]+$/.test(host);
  return isWildcard ? { host: isIP(host) === 6 ? '::1' : '127.0.0.1', port } : { host, port };
}
