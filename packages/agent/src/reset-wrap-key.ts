/**
 * Another wrap key for a host that keeps its identity: an operator's verb, since a key that is made anew over one that is
 * there would be a thief's way in if it were done by itself (design 3, The wrap key on the host). What is in force stays;
 * the state before is kept in a file beside it; the hub goes on sealing to the former key until an operator approves the new one.
 */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Random } from '@rollcall/core/ports';
import { generateWrapKey } from '@rollcall/core/seal';
import { type DurableState, encodeDurableState } from './state/durable-state.ts';
import { FILE_MODE, slotPath, unwritable } from './state/files-on-disk.ts';
import { loadState, type StateDirectory } from './state/load.ts';
import { createPersist } from './state/persist.ts';

export interface ResetWrapKey {
  readonly host: string;
  /** Fingerprints. */
  readonly former: string;
  readonly fingerprint: string;
  /** A copy of the state as it was, with the former private key in it. */
  readonly keptAs: string;
}

/**
 * Only the holder of the directory's lock may call this. Throws `identity_missing` where there is no state to give a key to,
 * and whatever `loadState` throws: a state that cannot be read keeps its host from being known, so nothing is made over it.
 */
export async function resetWrapKey(
  place: StateDirectory,
  { random, nowMs }: { readonly random: Random; readonly nowMs: number },
): Promise<ResetWrapKey> {
  const { files, directory } = place;
  const loaded = await loadState(place);
  if (loaded === undefined) throw new RollcallError('identity_missing', { directory });
  const { state, inForce } = loaded;
  const keptAs = `${directory}/state-before-${new Date(nowMs)
    .toISOString()
    .replaceAll(/[^0-9]/g, '')
    .slice(0, 14)}`;
  await copy(place, slotPath(directory, inForce.slot), keptAs);
  const wrapKey = generateWrapKey(random);
  // A token that is being redeemed was proven with the former key: it can be given again.
  const { enrolment: _enrolment, ...kept } = state;
  const next: DurableState = { ...kept, wrapKeys: [wrapKey] };
  await createPersist(files, directory, inForce)(encodeDurableState(next));
  const former = state.wrapKeys[0]?.public.fingerprint ?? '';
  return { host: state.host, former, fingerprint: wrapKey.public.fingerprint, keptAs };
}

/** Durable before the state is written that it is a copy of the former one of. */
async function copy({ files, directory }: StateDirectory, from: string, to: string): Promise<void> {
  try {
    const bytes = await files.read(from, limits.stateFileMaxBytes);
    const file = await files.create(to, FILE_MODE);
    try {
      for (let at = 0; at < bytes.length; ) at += await file.write(bytes.subarray(at));
      await file.sync();
    } finally {
      await file.close();
    }
    await files.syncDirectory(directory);
  } catch (error) {
    throw unwritable(to, error);
  }
}
