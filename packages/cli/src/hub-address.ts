/** Where the hub is: from an option, the environment, or where a packaged hub listens (design 8). */

import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { usageError } from './usage-error.ts';

export const DEFAULT_OPERATOR_SOCKET = '/run/rollcall/operator.sock';

export interface HubAddressOptions {
  readonly hub?: string | undefined;
  /** The hub's data directory: its socket lies in it. */
  readonly dir?: string | undefined;
}

/** Path of the operator's socket. Throws `usage` and `hub_address_unsupported`. */
export function resolveOperatorSocket(
  options: HubAddressOptions,
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (options.dir !== undefined) {
    if (options.hub !== undefined) throw usageError('--dir and --hub both say where the hub is', 'Give one of them.');
    return checkedLength(`${options.dir.replace(/(?<=.)\/+$/, '')}/operator.sock`);
  }
  const address = options.hub ?? (env['ROLLCALL_HUB'] || `unix:${DEFAULT_OPERATOR_SOCKET}`);
  return checkedLength(parseUnixAddress(address));
}

function parseUnixAddress(address: string): string {
  if (/^https?:\/\//i.test(address)) throw new RollcallError('hub_address_unsupported');
  const path = address.startsWith('unix:') ? address.slice('unix:'.length) : '';
  // `unix:///run/x` is how curl and others write it.
  const plain = path.replace(/^\/\/(?=\/)/, '');
  if (plain === '' || plain.includes('\0')) {
    throw usageError(
      'the address of the hub is not understood',
      `Write --hub unix:PATH, for example unix:${DEFAULT_OPERATOR_SOCKET}.`,
    );
  }
  return plain;
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
