/**
 * The one function that writes the state (design 4). A temporary file is written whole and made durable, renamed over the
 * older slot, made durable in its directory, and read back; only then is it in force. Whatever fails on the way leaves
 * the slot that is in force as it is.
 */
import { equalBytes } from '@rollcall/core/bytes';
import type { JsonValue } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import type { Files } from '@rollcall/core/ports';
import { type SlotIndex, slotPath, TEMPORARY_NAME, unwritable } from './files-on-disk.ts';
import { encodeSlot } from './slot.ts';
import { writeNewFile } from './write-new-file.ts';

/** Which slot holds the state that is in force. */
export interface InForce {
  readonly slot: SlotIndex;
  readonly counter: number;
}

/** Resolves when `state` is in force. Rejects with `disk_full` or `state_unwritable`: then the former one still is. */
export type Persist = (state: JsonValue) => Promise<void>;

/** Only the holder of the directory's lock may write, and one call at a time. */
export function createPersist(files: Files, directory: string, loaded: InForce | undefined): Persist {
  let inForce = loaded;
  let busy = false;

  return async (state) => {
    if (busy) throw new Error('persist: one write at a time');
    busy = true;
    try {
      // An attempt that failed after its rename may be on the disk all the same: the next one takes its place.
      const slot = inForce?.slot === 0 ? 1 : 0;
      const counter = (inForce?.counter ?? 0) + 1;
      await writeSlot(files, directory, slot, encodeSlot({ counter, state }));
      inForce = { slot, counter };
    } finally {
      busy = false;
    }
  };
}

async function writeSlot(files: Files, directory: string, slot: SlotIndex, bytes: Uint8Array): Promise<void> {
  const temporary = `${directory}/${TEMPORARY_NAME}`;
  const path = slotPath(directory, slot);
  try {
    await writeTemporary(files, temporary, bytes);
    await files.rename(temporary, path);
    await files.syncDirectory(directory);
    const readBack = await files.read(path, limits.stateFileMaxBytes);
    if (!equalBytes(readBack, bytes)) throw new Error('read back something else');
  } catch (error) {
    // Gives its room back; it is no loss when this fails too, since the next write removes it first.
    await files.remove(temporary).catch(() => undefined);
    throw unwritable(path, error);
  }
}

/** Exclusive, whole and durable; not yet under its name. */
export async function writeTemporary(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  if (bytes.length > limits.stateFileMaxBytes) throw new RangeError('the state is larger than a slot may be');
  await writeNewFile(files, path, bytes);
}
