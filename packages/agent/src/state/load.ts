/**
 * Reads the state back (design 4). The valid slot with the higher counter is in force. Unreadable is not absent (I10):
 * whatever cannot be read stops the agent with the name of the file, and nothing is changed.
 */
import { dirname } from 'node:path';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Files } from '@rollcall/core/ports';
import { type DurableState, parseDurableState } from './durable-state.ts';
import {
  assertPrivate,
  DIRECTORY_MODE,
  type SlotIndex,
  slotPath,
  systemCode,
  unreadable,
  unwritable,
} from './files-on-disk.ts';
import type { InForce } from './persist.ts';
import { parseSlot, type Slot } from './slot.ts';

export interface Loaded {
  readonly state: DurableState;
  readonly inForce: InForce;
  /** A slot that was damaged, and whose place the other one took: worth a warning. The next write mends it. */
  readonly damaged?: string;
}

export interface StateDirectory {
  readonly files: Files;
  readonly directory: string;
  /** Who must own it: the user that the agent runs as. */
  readonly uid: number;
}

/** Makes the directory when there is none; else demands that it is private. Its parent must be there. */
export async function prepareDirectory({ files, directory, uid }: StateDirectory): Promise<void> {
  try {
    assertDirectory(directory, await files.stat(directory), uid);
    return;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw unreadable(directory, error);
  }
  try {
    await files.makeDirectory(directory, DIRECTORY_MODE);
  } catch (error) {
    throw unwritable(directory, error);
  }
}

/** The state, or `undefined` when there is verifiably none: both slots are absent from a directory that can be read. */
export async function loadState(at: StateDirectory): Promise<Loaded | undefined> {
  const { files, directory, uid } = at;
  const stat = await files.stat(directory).catch((error: unknown) => {
    throw unreadable(directory, error);
  });
  assertDirectory(directory, stat, uid);
  const slots = [await readSlot(at, 0), await readSlot(at, 1)] as const;
  const [a, b] = slots;
  if (a === 'absent' && b === 'absent') {
    await syncParent(files, directory);
    return undefined;
  }
  const slot = newerSlot(a, b);
  if (slot === undefined) {
    // A first write cannot tear its slot, since it is renamed there whole: one damaged slot alone has lost its fellow.
    const damaged = ([0, 1] as const)
      .filter((index) => slots[index] === 'damaged')
      .map((index) => slotPath(directory, index));
    throw new RollcallError('state_torn', { files: damaged });
  }
  const { counter, state } = slots[slot] as Slot;
  const durable = parse(slotPath(directory, slot), state);
  // The rename that brought this slot may not have reached the disk: before anything is said on its strength, it must.
  await files.syncDirectory(directory).catch((error: unknown) => {
    throw unreadable(directory, error);
  });
  const other: SlotIndex = slot === 0 ? 1 : 0;
  return {
    state: durable,
    inForce: { slot, counter },
    ...(slots[other] === 'damaged' ? { damaged: slotPath(directory, other) } : {}),
  };
}

type SlotContent = Slot | 'absent' | 'damaged';

async function readSlot({ files, directory, uid }: StateDirectory, slot: SlotIndex): Promise<SlotContent> {
  const path = slotPath(directory, slot);
  try {
    const stat = await files.stat(path);
    if (stat.kind !== 'file') throw new RollcallError('state_unreadable', { file: path, cause: 'not a file' });
    assertPrivate(path, stat, uid);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'absent';
    throw unreadable(path, error);
  }
  const bytes = await files.read(path, limits.stateFileMaxBytes).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    return parseSlot(bytes);
  } catch (error) {
    if (isRollcallError(error, 'state_torn')) return 'damaged';
    throw isRollcallError(error) ? new RollcallError(error.code, { ...error.details, file: path }) : error;
  }
}

function newerSlot(a: SlotContent, b: SlotContent): SlotIndex | undefined {
  if (typeof a === 'string') return typeof b === 'string' ? undefined : 1;
  if (typeof b === 'string') return 0;
  return a.counter > b.counter ? 0 : 1;
}

/** A digest that fits a state which does not parse is no damage of a disk: another program wrote it, or a fault of ours did. */
function parse(file: string, state: Slot['state']): DurableState {
  try {
    return parseDurableState(state);
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    throw new RollcallError('state_unreadable', {
      file,
      cause: `${error.code} ${String(error.details['what'] ?? '')}`.trim(),
    });
  }
}

function assertDirectory(path: string, stat: Awaited<ReturnType<Files['stat']>>, uid: number): void {
  if (stat.kind !== 'directory') throw new RollcallError('state_unreadable', { file: path, cause: 'not a directory' });
  assertPrivate(path, stat, uid);
}

/** At first boot the directory itself may be new. Its parent may be closed to us, and then it was not we who made it. */
async function syncParent(files: Files, directory: string): Promise<void> {
  try {
    await files.syncDirectory(dirname(directory));
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'EACCES' && code !== 'EPERM') throw unreadable(dirname(directory), error);
  }
}
