/** `HOST:PORT`, `[IPv6]:PORT` or `NAME:PORT`: where a listener is opened. */
import { isIP } from 'node:net';
import { RollcallError } from '@rollcall/core/errors';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** As it stands in a URL. */
  readonly text: string;
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
  if (v6 === undefined && !isNameOfUrl(host)) throw new RollcallError('malformed_address');
  return { host, port, text: formatAddress(host, port) };
}

/** Agents are given a URL: a name that a URL would refuse, or read as another address (`127.1`), is none. */
function isNameOfUrl(host: string): boolean {
  const url = `https://${host}/`;
  return URL.canParse(url) && new URL(url).hostname === host.toLowerCase();
}

/** Every address of the machine: good to listen on, and none that anybody could dial. */
export function isWildcard({ host }: ListenAddress): boolean {
  return isIP(host) !== 0 && /^[0:.]+$/.test(host);
}

export function formatAddress(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Where a program finds on its own machine what it opened there: loopback, where that is every address. */
export function ownAddress(address: ListenAddress): ListenAddress {
  if (!isWildcard(address)) return address;
  const host = isIP(address.host) === 6 ? '::1' : '127.0.0.1';
  return { host, port: address.port, text: formatAddress(host, address.port) };
}
