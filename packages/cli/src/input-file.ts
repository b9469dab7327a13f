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
};

/** Bytes of a file that holds a secret. A file that others may read is taken, with a word about it. */
export async function readSecretFile(context: Pick<Context, 'io' | 'progress'>, path: string): Promise<Uint8Array> {
  const { io } = context;
  if (path === '-' && io.stdin.isTerminal) {
    throw usageError('a secret is not typed on a terminal, which shows it', 'Pipe it: `… < FILE`, or name the file.');
  }
  return attempt(path, limits.secretFileMaxBytes, async () => {
    if (path === '-') return io.stdin.read(limits.secretFileMaxBytes);
    const { mode } = await io.files.stat(path);
    if ((mode & READABLE_BY_OTHERS) !== 0)
      context.progress(`note: others can read ${path}: chmod 600 it, or delete it when you are done`);
    return io.files.read(path, limits.secretFileMaxBytes);
  });
}

/** Bytes of a file that holds no secret. */
export function readPlainFile({ io }: Pick<Context, 'io'>, path: string, maxBytes: number): Promise<Uint8Array> {
  return attempt(path, maxBytes, () => (path === '-' ? io.stdin.read(maxBytes) : io.files.read(path, maxBytes)));
}

async function attempt(path: string, maxBytes: number, read: () => Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await read();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const reason =
      code === 'EFBIG'
        ? `it has more than ${maxBytes} bytes`
        : (reasons[code] ?? `the system says ${code || 'nothing more'}`);
    const file = path === '-' ? 'standard input' : path;
    throw new RollcallError('file_unreadable', { file, reason }, { cause: error });
  }
}
