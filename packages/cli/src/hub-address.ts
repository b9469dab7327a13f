/** Where the hub is: from an option, the environment, or where a packaged hub listens (design 8). */

import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { usageError } from './usage-error.ts';

const DEFAULT_OPERATOR_SOCKET = '/run/rollcall/operator.sock';

export interface HubAddressOptions {
  readonly hub?: string | undefined;
  /** The hub's data directory: its socket lies in it. */
  readonly dir?: string | undefined;
}

export type GivenAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tls'; readonly host: string; readonly port: number };

/** Throws `usage` and `hub_address_unsupported`. */
export function resolveHubAddress(
  options: HubAddressOptions,
  env: Readonly<Record<string, string | undefined>>,
): GivenAddress {
  if (options.dir !== undefined) {
    if (options.hub !== undefined) throw usageError('--dir and --hub both say where the hub is', 'Give one of them.');
    return { kind: 'socket', path: checkedLength(`${options.dir.replace(/(?<=.)\/+$/, '')}/operator.sock`) };
  }
  const address = options.hub ?? (env['ROLLCALL_HUB'] || `unix:${DEFAULT_OPERATOR_SOCKET}`);
  return /^https?:/i.test(address)
    ? parseUrl(address)
    : { kind: 'socket', path: checkedLength(parseUnixAddress(address)) };
}

/** `https://HOST:PORT`, and nothing beside it: a path or a user would be dropped without a word. */
function parseUrl(address: string): GivenAddress {
  if (/^http:/i.test(address)) throw new RollcallError('hub_address_unsupported');
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isPlain = url !== undefined && url.username === '' && url.password === '' && url.pathname === '/';
  if (!isPlain || /[?#\s]/.test(address)) throw notUnderstood();
  return { kind: 'tls', host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? 443 : Number(url.port) };
}

function parseUnixAddress(address: string): string {
  const path = address.startsWith('unix:') ? address.slice('unix:'.length) : '';
  // `unix:///run/x` is how curl and others write it.
  const plain = path.replace(/^\/\/(?=\/)/, '');
  if (plain === '' || plain.includes('\0')) throw notUnderstood();
  return plain;
}

function notUnderstood(): RollcallError {
  return usageError(
    'the address of the hub is not understood',
    `Write --hub unix:PATH, for example unix:${DEFAULT_OPERATOR_SOCKET}, or --hub https://HOST:PORT.`,
  );
}

/** The system would cut a longer path, or refuse it with an error that names no reason (unix(7)). */
function checkedLength(path: string): string {
  if (Buffer.byteLength(path) > limits.unixSocketPathBytes) {
    throw usageError(
      `the path of the socket is longer than ${limits.unixSocketPathBytes} bytes`,
      'Use a shorter path, or a relative one from a directory nearby.',
    );
  }
  return path;
}
