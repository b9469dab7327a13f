/** The file system as the `Files` port. Links are never followed: what stands in a state directory is a file or it is wrong. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FileStat, Files, WritableFile } from '@rollcall/core/ports';

export const systemFiles: Files = {
  read: readBounded,
  stat: async (path) => {
    const stat = await lstat(path);
    return { kind: kindOf(stat), mode: stat.mode & 0o777, uid: stat.uid, size: stat.size };
  },
  list: (path) => readdir(path),
  create: async (path, mode) => {
    const handle = await open(path, 'wx', mode);
    return closeOnError(handle, async () => {
      await handle.chmod(mode); // whatever the umask took away
      return writable(handle);
    });
  },
  makeDirectory: async (path, mode) => {
    await mkdir(path, { mode });
    await withDirectory(path, (handle) => handle.chmod(mode));
  },
  rename,
  remove: unlink,
  syncDirectory: (path) => withDirectory(path, (handle) => handle.sync()),
};

/** Where a directory really is: a link to it is the operator's business, one within it is not. */
export async function resolveDirectory(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

async function readBounded(path: string, maxBytes: number): Promise<Uint8Array> {
  // O_NONBLOCK, so that a pipe in the place of a file is an error and no endless wait.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const buffer = new Uint8Array(Math.min((await handle.stat()).size, maxBytes) + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) return buffer.slice(0, length);
      length += bytesRead;
      // One byte more than the file had: it is too large, or it grows while it is read.
      if (length === buffer.length) throw Object.assign(new Error('file is too large'), { code: 'EFBIG' });
    }
  } finally {
    await handle.close();
  }
}

async function withDirectory(path: string, task: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await task(handle);
  } finally {
    await handle.close();
  }
}

function writable(handle: FileHandle): WritableFile {
  return {
    write: async (bytes) => (await handle.write(bytes)).bytesWritten,
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

async function closeOnError<T>(handle: FileHandle, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function kindOf(stat: { isFile(): boolean; isDirectory(): boolean; isSocket(): boolean }): FileStat['kind'] {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSocket() ? 'socket' : 'other';
}
