/** What lies at the path of a sink now, looked at without changing it. */

import { SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { systemCode } from '../state/files-on-disk.ts';
import type { Looks, SinkFiles } from './ports.ts';
import { contentDigest, type FileName, fileNames } from './project-assignment.ts';
import { isDirectoryName, parentOf } from './sink-names.ts';

export type LiveSink =
  | { readonly kind: 'absent' }
  /** A file, a directory or the like: no link. */
  | { readonly kind: 'foreign' }
  | {
      readonly kind: 'link';
      readonly target: string;
      /** Whether it leads to where a link of an agent would. */
      readonly isOurName: boolean;
      /** `null` where it leads to nothing that an agent wrote. */
      readonly content: LiveContent | null;
    };

export interface LiveContent {
  readonly digest: string;
  readonly looks: string;
}

/** Rejects with the system's error when something is there that cannot be looked at. */
export async function lookAtSink(files: SinkFiles, path: string): Promise<LiveSink> {
  const found = await files.look(path);
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind !== 'link') return { kind: 'foreign' };
  const isOurName = isDirectoryName(path, found.target);
  const content = isOurName ? await lookAtDirectory(files, `${parentOf(path)}/${found.target}`) : null;
  return { kind: 'link', target: found.target, isOurName, content };
}

/** `null` for a directory that is gone, or holds anything that no agent writes. */
export async function lookAtDirectory(files: SinkFiles, directory: string): Promise<LiveContent | null> {
  const found = await files.look(directory);
  if (found.kind !== 'directory') return null;
  const names = [...(await files.list(directory))].sort();
  if (!names.every(isFileName)) return null;
  const content = new Map<FileName, Uint8Array>();
  const looks = [looksOf('.', found)];
  for (const name of names) {
    const file = await files.look(`${directory}/${name}`);
    if (file.kind !== 'file') return null;
    looks.push(looksOf(name, file));
    const bytes = await readBounded(files, `${directory}/${name}`);
    if (bytes === null) return null;
    content.set(name, bytes);
  }
  return { digest: contentDigest(content), looks: looks.join(' ') };
}

/** The trimmed bytes that a program reads as the token to present, wherever the path leads; `null` when there are none. */
export async function readLiveToken(files: SinkFiles, path: string): Promise<SecretBytes<'token'> | null> {
  try {
    const found = await files.lookThrough(`${path}/present`);
    if (found.kind !== 'file') return null;
    return new SecretBytes('token', trim(await files.read(`${path}/present`, limits.sinkFileMaxBytes)));
  } catch {
    return null;
  }
}

function isFileName(name: string): name is FileName {
  return (fileNames as readonly string[]).includes(name);
}

function looksOf(name: string, { mode, uid, gid }: Looks): string {
  return `${name}=${mode.toString(8)}:${uid}:${gid}`;
}

async function readBounded(files: SinkFiles, path: string): Promise<Uint8Array | null> {
  try {
    return await files.read(path, limits.sinkFileMaxBytes);
  } catch (error) {
    if (systemCode(error) === 'EFBIG') return null;
    throw error;
  }
}

/** As verifiers trim what they read (design 3): white space of ASCII at both ends. */
function trim(bytes: Uint8Array): Uint8Array {
  const isSpace = (byte: number | undefined) => byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
  let start = 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start])) start += 1;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}
