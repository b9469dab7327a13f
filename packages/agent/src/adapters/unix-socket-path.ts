/** A path for a Unix socket. Node cuts a longer one short without a word, and listens somewhere else. */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';

export function assertSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > limits.unixSocketPathBytes) {
    throw new RollcallError('socket_path_too_long', { path, bytes, atMost: limits.unixSocketPathBytes });
  }
}
