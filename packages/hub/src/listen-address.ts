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
  return { host, port, text: formatAddress(host, port) };
}

export function formatAddress(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}
