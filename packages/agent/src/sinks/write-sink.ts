/**
 * Writes a sink: a fresh directory beside the path, whole and durable before anything leads to it, and then one link that
 * is turned by a rename. Whoever opens the path meets the old directory or the new one, and each holds tokens that belong
 * together. A crash between any two steps leaves the path as it was, or turned.
 */
import { RollcallError } from '@rollcall/core/errors';
import { systemCode } from '../state/files-on-disk.ts';
import { fill } from '../state/write-new-file.ts';
import { type LiveContent, lookAtDirectory } from './live-sink.ts';
import type { WantedSink } from './plan-sink.ts';
import type { SinkFiles } from './ports.ts';
import { fileNames } from './project-assignment.ts';
import { isDirectoryName, newLinkPath, parentOf } from './sink-names.ts';

/** Makes the directory, with owners and modes, and returns how it looks. Nothing leads to it yet. */
export async function makeDirectory(
  files: SinkFiles,
  directory: string,
  { projection, mode, ...owners }: WantedSink,
): Promise<LiveContent> {
  await files.makeDirectory(directory, PRIVATE_DIRECTORY);
  for (const [name, bytes] of projection.content) {
    const path = `${directory}/${name}`;
    await fill(await files.create(path, PRIVATE_FILE), bytes);
    await give(files, path, { mode, ...owners });
  }
  await give(files, directory, { mode: directoryMode(mode), ...owners });
  await files.syncDirectory(directory);
  await files.syncDirectory(parentOf(directory));
  const made = await lookAtDirectory(files, directory);
  if (made?.digest !== projection.digest) throw new Error('read back something else');
  return made;
}

/** Turns the link. `isAbsent`: nothing was there, and what came there since is not replaced. */
export async function turnLink(
  files: SinkFiles,
  path: string,
  { directory, isAbsent }: { readonly directory: string; readonly isAbsent: boolean },
): Promise<void> {
  if (isAbsent) await files.link(directory, path);
  else await files.rename(await makeLink(files, path, directory), path);
  await files.syncDirectory(parentOf(path));
}

/**
 * Removes directories that crashes and earlier writes left beside the path. One that has another name, or holds anything
 * that no agent writes, is not ours and stays.
 */
export async function clearLeftovers(files: SinkFiles, path: string, keep: ReadonlySet<string>): Promise<void> {
  for (const name of await files.list(parentOf(path))) {
    if (isDirectoryName(path, name) && !keep.has(name)) await removeOurs(files, `${parentOf(path)}/${name}`);
  }
}

/**
 * The link first, if it is ours, so that nobody meets a directory that is half empty; then every directory of ours, also those that a
 * reader may still be in. Done twice, it is done.
 */
export async function takeAway(files: SinkFiles, path: string, isOurLink: boolean): Promise<void> {
  if (isOurLink) {
    await files.remove(path);
    await files.syncDirectory(parentOf(path));
  }
  // Where the directory above is gone, so is all that was in it.
  if ((await files.lookThrough(parentOf(path))).kind === 'absent') return;
  for (const name of await files.list(parentOf(path))) {
    if (isDirectoryName(path, name)) await emptyOurs(files, `${parentOf(path)}/${name}`);
  }
  await files.syncDirectory(parentOf(path));
}

/** What somebody else put there stays, and the directory with it. */
async function emptyOurs(files: SinkFiles, directory: string): Promise<void> {
  if ((await files.look(directory)).kind !== 'directory') return;
  const known: readonly string[] = fileNames;
  const names = await files.list(directory);
  for (const name of names) if (known.includes(name)) await files.remove(`${directory}/${name}`);
  if (names.every((name) => known.includes(name))) await files.removeDirectory(directory);
  else await files.syncDirectory(directory);
}

/** Files that are not whole yet are for nobody. */
const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;

async function give(files: SinkFiles, path: string, looks: Parameters<SinkFiles['give']>[1]): Promise<void> {
  try {
    await files.give(path, looks);
  } catch (error) {
    const isRefused = systemCode(error) === 'EPERM' && (looks.uid !== undefined || looks.gid !== undefined);
    throw isRefused ? new RollcallError('sink_owner_refused', { cause: 'EPERM' }, { cause: error }) : error;
  }
}

/** Whoever may read a file may enter. */
function directoryMode(mode: number): number {
  return (mode & 0o040) === 0 ? 0o700 : 0o750;
}

async function makeLink(files: SinkFiles, path: string, directory: string): Promise<string> {
  const link = newLinkPath(path);
  try {
    await files.link(directory, link);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST' || (await files.look(link)).kind !== 'link') throw error;
    await files.remove(link);
    await files.link(directory, link);
  }
  return link;
}

async function removeOurs(files: SinkFiles, directory: string): Promise<void> {
  if ((await files.look(directory)).kind !== 'directory') return;
  const names = await files.list(directory);
  const known: readonly string[] = fileNames;
  if (!names.every((name) => known.includes(name))) return;
  for (const name of names) await files.remove(`${directory}/${name}`);
  await files.removeDirectory(directory);
}
