/** What a hub over TCP takes beside its address: the operator's token, and the file by which the hub is known (design 8). */
import { RollcallError } from '@rollcall/core/errors';
import { encodeToken, parseHubRootFile, parseToken, parseTokenFile, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { readPlainFile, readSecretFile } from './input-file.ts';
import { usageError } from './usage-error.ts';
import type { Context } from './verb.ts';

export interface HubCredentials {
  readonly token: SecretBytes<'operator-token'>;
  readonly spki: readonly Uint8Array[];
}

/** Throws `usage`, `file_unreadable`, `malformed_token`, `malformed_file`, `byte_order_mark`. */
export async function readHubCredentials(
  context: Pick<Context, 'io' | 'global' | 'progress'>,
): Promise<HubCredentials> {
  const { io, global } = context;
  const tokenFile = global.tokenFile ?? io.env['ROLLCALL_TOKEN_FILE'];
  const rootFile = global.hubRootFile ?? io.env['ROLLCALL_HUB_ROOT_FILE'];
  if (!tokenFile)
    throw usageError(
      'a hub over TCP takes an operator token',
      'Name its file with --token-file or ROLLCALL_TOKEN_FILE; `rollcall operator add` prints one.',
    );
  if (!rootFile)
    throw usageError(
      'a hub over TCP is known by its key',
      'Name the file that `rollcall hub status` prints with --hub-root-file or ROLLCALL_HUB_ROOT_FILE.',
    );
  const { spki } = parseNamed(
    rootFile,
    parseHubRootFile,
    await readPlainFile(context, rootFile, limits.secretFileMaxBytes),
  );
  const bytes = await readSecretFile(context, tokenFile);
  const value = parseNamed(tokenFile, (read) => parseToken('rco', parseTokenFile(read)), bytes);
  return { spki, token: new SecretBytes('operator-token', value) };
}

export function authorization({ token }: HubCredentials): string {
  return `Bearer ${encodeToken('rco', token.reveal())}`;
}

/** The error says which of the two files it is about; never what stands in it. */
function parseNamed<T>(file: string, parse: (bytes: Uint8Array) => T, bytes: Uint8Array): T {
  try {
    return parse(bytes);
  } catch (error) {
    throw error instanceof RollcallError ? new RollcallError(error.code, { ...error.details, file }) : error;
  }
}
