/** Files that a command reads. */
import { open, stat } from 'node:fs/promises';
import type { InputFiles } from '../ports.ts';
import { readAll } from './node-io.ts';

export const nodeFiles: InputFiles = {
  async read(path, maxBytes) {
    const file = await open(path, 'r');
    try {
      // As a stream, so that a pipe (`<(…)`) does as well as a file.
      return await readAll(file.createReadStream({ autoClose: false }), maxBytes);
    } finally {
      await file.close();
    }
  },
  async stat(path) {
    const found = await stat(path);
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : found.isSocket() ? 'socket' : 'other';
    return { kind, mode: found.mode & 0o7777, uid: found.uid, size: found.size };
  },
};
