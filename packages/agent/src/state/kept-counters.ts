/**
 * Counts of what callers presented, from one start to the next (design 5, Counters): written at a clean stop, and gone from the disk
 * before the next start counts on. So after any other end there is nothing to go on from, and the count begins anew.
 */
import { utf8 } from '@rollcall/core/bytes';
import { type JsonObject, type JsonValue, parseJson } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { assertPrivate, systemCode, unwritable } from './files-on-disk.ts';
import type { StateDirectory } from './load.ts';
import { writeTemporary } from './persist.ts';

const NAME = 'counters';

/** `undefined` where there is nothing. Throws where something cannot be read or removed: then it must not be counted on. */
export async function takeKeptCounters({ files, directory, uid }: StateDirectory): Promise<JsonValue | undefined> {
  const path = `${directory}/${NAME}`;
  try {
    assertPrivate(path, await files.stat(path), uid);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const bytes = await files.read(path, limits.stateFileMaxBytes);
  await files.remove(path);
  await files.syncDirectory(directory);
  return parseJson(bytes);
}

export async function keepCounters({ files, directory }: StateDirectory, counters: JsonObject): Promise<void> {
  const path = `${directory}/${NAME}`;
  const temporary = `${path}.tmp`;
  try {
    await writeTemporary(files, temporary, utf8(`${JSON.stringify(counters)}\n`));
    await files.rename(temporary, path);
    await files.syncDirectory(directory);
  } catch (error) {
    await files.remove(temporary).catch(() => undefined);
    throw unwritable(path, error);
  }
}
