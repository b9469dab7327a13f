/** The file system as `SinkFiles`. Nothing follows a link but `lookThrough`. */
import { constants, type Stats } from 'node:fs';
import { lstat, open, readlink, rmdir, stat, symlink } from 'node:fs/promises';
import type { Found, SinkFiles } from '../sinks/ports.ts';
import { systemCode } from '../state/files-on-disk.ts';
import { systemFiles } from './system-files.ts';

export const systemSinkFiles: SinkFiles = {
  ...systemFiles,
  look: (path) =>
    orAbsent(async () => {
      const found = await lstat(path);
      return found.isSymbolicLink() ? { kind: 'link', target: await readlink(path) } : foundOf(found);
    }),
  lookThrough: (path) => orAbsent(async () => foundOf(await stat(path))),
  give: async (path, { mode, uid, gid }) => {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      // The mode first: afterwards the file may be another's, whose mode is not ours to change.
      await handle.chmod(mode);
      if (uid !== undefined || gid !== undefined) await handle.chown(uid ?? UNCHANGED, gid ?? UNCHANGED);
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  link: symlink,
  removeDirectory: rmdir,
};

/** chown(2). */
const UNCHANGED = -1;

async function orAbsent(look: () => Promise<Found>): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
    throw error;
  }
}

function foundOf(found: Stats): Found {
  const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other';
  return { kind, mode: found.mode & 0o7777, uid: found.uid, gid: found.gid };
}
