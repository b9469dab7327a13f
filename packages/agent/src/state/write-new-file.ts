/** Writes a file whole and makes its bytes durable, under a name that is put in its place afterwards. */
import type { Files, WritableFile } from '@rollcall/core/ports';
import { FILE_MODE, systemCode } from './files-on-disk.ts';

type Making = Pick<Files, 'create' | 'remove'>;

/** A leftover of a crash under this name is removed first. Rejects with the system's error. */
export async function writeNewFile(files: Making, path: string, bytes: Uint8Array): Promise<void> {
  await fill(await createExclusive(files, path), bytes);
}

/** Writes everything, syncs, and closes. */
export async function fill(file: WritableFile, bytes: Uint8Array): Promise<void> {
  try {
    await writeAll(file, bytes);
    // Never again on this descriptor when it fails: the kernel may have marked the pages clean, and would say yes.
    await file.sync();
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
  await file.close();
}

/** A leftover of a crash is removed, never opened: nobody knows what else has it open, or what it links to. */
async function createExclusive(files: Making, path: string): Promise<WritableFile> {
  try {
    return await files.create(path, FILE_MODE);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  await files.remove(path);
  return files.create(path, FILE_MODE);
}

async function writeAll(file: WritableFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const taken = await file.write(bytes.subarray(at));
    if (taken <= 0) throw new Error('the file took no more bytes');
    at += taken;
  }
}
