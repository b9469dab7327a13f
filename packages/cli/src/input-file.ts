/** Files that an operator names: read whole, within a bound, `-` being standard input. Never an argument (design 8). */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { usageError } from './usage-error.ts';
import type { Context } from './verb.ts';

const READABLE_BY_OTHERS = 0o077;

/** Why a file cannot be read, for the codes that a person meets. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
  EFBIG: `it has more than ${limits.secretFileMaxBytes} bytes`,
};

/** Bytes of a file that holds a secret. A file that others may read is taken, with a word about it. */
export async function readSecretFile(context: Context, path: string): Promise<Uint8Array> {
  const { io } = context;
  if (path === '-' && io.stdin.isTerminal) {
    throw usageError('a secret is not typed on a terminal, which shows it', 'Pipe it: `… < FILE`, or name the file.');
  }
  try {
    if (path === '-') return await io.stdin.read(limits.secretFileMaxBytes);
    const { mode } = await io.files.stat(path);
    if ((mode & READABLE_BY_OTHERS) !== 0)
      context.progress(`note: others can read ${path}: chmod 600 it, or delete it when you are done`);
    return await io.files.read(path, limits.secretFileMaxBytes);
  } catch (error) {
    throw unreadable(error, path);
  }
}

function unreadable(error: unknown, path: string): RollcallError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const reason = reasons[code] ?? `the system says ${code || 'nothing more'}`;
  return new RollcallError(
    'file_unreadable',
    { file: path === '-' ? 'standard input' : path, reason },
    { cause: error },
  );
}
