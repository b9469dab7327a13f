/**
 * A verifier of a shared token whose versions stand in files, for a program that holds it without an agent's state: read at start, and
 * again on SIGHUP. What cannot be taken whole is not taken: what was in force stays (design 8, Configuration).
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { type ErrorCode, isRollcallError, RollcallError } from '@rollcall/core/errors';
import { parseTokenFile } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Log } from '@rollcall/core/ports';
import { createTokenVerifier, type TokenSet, type TokenVerifier, type TokenVersion } from '@rollcall/core/verify';
import { systemCode } from '../state/files-on-disk.ts';

/** One version of the token: the path of the file that holds it and nothing else, mode 0600. */
export interface TokenFile {
  readonly version: number;
  readonly path: string;
}

export interface TokenFiles {
  readonly current: TokenFile;
  readonly next?: TokenFile;
  readonly retiring?: TokenFile;
  readonly weak?: boolean;
}

export interface FileVerifier extends TokenVerifier {
  /** Resolves to why the files were not taken, or to nothing when they were. Its hits count from the last that was. */
  reload(): Promise<ErrorCode | undefined>;
  /** SIGHUP is listened to until then. */
  close(): void;
}

/** `files` gives those of now: a rotation changes which there are. Rejects with what is wrong with the first ones. */
export async function openTokenFiles(
  files: () => TokenFiles | Promise<TokenFiles>,
  log: Pick<Log, 'info' | 'error'>,
): Promise<FileVerifier> {
  let inForce = createTokenVerifier(await readTokenSet(await files()));
  let work: Promise<unknown> = Promise.resolve();
  const take = async (): Promise<ErrorCode | undefined> => {
    try {
      inForce = createTokenVerifier(await readTokenSet(await files()));
      log.info('the token files were read again');
      return undefined;
    } catch (error) {
      const code = isRollcallError(error) ? error.code : 'internal';
      const file = isRollcallError(error) ? error.details['file'] : undefined;
      const named = typeof file === 'string' ? { file } : {};
      log.error('the token files were not taken; what was in force stays', { code, ...named });
      return code;
    }
  };
  // One after the other: two that overlap could leave the earlier one in force.
  const reload = () => {
    const taken = work.then(take);
    work = taken;
    return taken;
  };
  const hangUp = () => void reload();
  process.on('SIGHUP', hangUp);
  return {
    verify: (presented) => inForce.verify(presented),
    hits: () => inForce.hits(),
    reload,
    close: () => void process.removeListener('SIGHUP', hangUp),
  };
}

/** Errors: `file_unreadable`, `token_file_loose_mode`, `too_large`, `malformed_file`, `byte_order_mark`, each with its file. */
export async function readTokenSet({ current, next, retiring, weak }: TokenFiles): Promise<TokenSet> {
  return {
    current: await readVersion(current),
    ...(next === undefined ? {} : { next: await readVersion(next) }),
    ...(retiring === undefined ? {} : { retiring: await readVersion(retiring) }),
    ...(weak === undefined ? {} : { weak }),
  };
}

async function readVersion({ version, path }: TokenFile): Promise<TokenVersion> {
  try {
    return { version, value: parseTokenFile(await readPrivate(path)) };
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    throw new RollcallError(error.code, { ...error.details, file: path }, { cause: error });
  }
}

/** Links are followed, since that is how such files are mounted; what is looked at is what is read. */
async function readPrivate(path: string): Promise<Uint8Array> {
  try {
    // O_NONBLOCK, so that a pipe in the place of a file is an error and no endless wait.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw new RollcallError('file_unreadable', { cause: 'not a file' });
      if ((stat.mode & 0o177) !== 0) throw new RollcallError('token_file_loose_mode');
      const buffer = new Uint8Array(limits.secretFileMaxBytes + 1);
      const length = await readInto(handle, buffer);
      if (length > limits.secretFileMaxBytes) throw new RollcallError('too_large');
      return buffer.subarray(0, length);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isRollcallError(error)) throw error;
    throw new RollcallError('file_unreadable', { cause: systemCode(error) ?? 'unknown' }, { cause: error });
  }
}

async function readInto(handle: Awaited<ReturnType<typeof open>>, buffer: Uint8Array): Promise<number> {
  for (let length = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    length += bytesRead;
    if (bytesRead === 0 || length === buffer.length) return length;
  }
}
