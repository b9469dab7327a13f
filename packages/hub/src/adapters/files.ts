/** The few files of a hub: the key-encryption key, what `hub init` writes, the operator's socket. */
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decodeBase64url, encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { parseTokenFile, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';

const KEK_BYTES = 32;

/** 32 bytes in base64url, mode 0600 or tighter. */
export function readKek(file: string): SecretBytes<'kek'> {
  const { mode, key } = readKekFile(file);
  if ((mode & 0o077) !== 0) {
    throw new RollcallError('kek_loose_mode', { file, hint: `Mend it with: chmod 600 ${file}` });
  }
  return key();
}

/** The same, for whoever judges the mode apart. */
export function readKekContent(file: string): SecretBytes<'kek'> {
  return readKekFile(file).key();
}

/** `key` throws where the content is none: what is wrong with the mode comes first. */
function readKekFile(file: string): { readonly mode: number; readonly key: () => SecretBytes<'kek'> } {
  let mode: number;
  let bytes: Uint8Array;
  try {
    const stat = statSync(file);
    // A device or a pipe would be read until the memory is full, or for ever.
    if (!stat.isFile()) throw Object.assign(new Error('not a file'), { code: 'not a file' });
    if (stat.size > limits.secretFileMaxBytes) throw Object.assign(new Error('too large'), { code: 'too large' });
    mode = stat.mode & 0o777;
    bytes = readFileSync(file);
  } catch (cause) {
    throw new RollcallError('kek_unreadable', { file, reason: (cause as { code?: string }).code ?? '' }, { cause });
  }
  return {
    mode,
    key: () => {
      const key = decodeKek(file, bytes);
      if (key?.length !== KEK_BYTES) throw new RollcallError('kek_unreadable', { file, reason: 'malformed' });
      return new SecretBytes('kek', key);
    },
  };
}

function decodeKek(file: string, bytes: Uint8Array): Uint8Array | undefined {
  try {
    return decodeBase64url(parseTokenFile(bytes));
  } catch (error) {
    // No `cause`: it is about the content.
    if (isRollcallError(error, 'byte_order_mark')) throw new RollcallError('byte_order_mark', { file });
    return undefined;
  }
}

export function encodeKek(key: SecretBytes<'kek'>): Uint8Array {
  return utf8(`${encodeBase64url(key.reveal())}\n`);
}

/** Creates the file, durable when this returns; one that is there already is never written over. */
export async function createFile(file: string, bytes: Uint8Array, mode: number): Promise<void> {
  const handle = await open(file, 'wx', mode);
  try {
    await handle.chmod(mode);
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  const directory = await open(dirname(file), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** A directory of its own, 0700. */
export function createPrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
}

/** Throws `file_unreadable` where it cannot be told: what cannot be looked at is not absent (I10). */
export function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    throw new RollcallError(
      'file_unreadable',
      { file: path, reason: (cause as { code?: string }).code ?? '' },
      { cause },
    );
  }
}

/** The socket that a hub left behind when it was killed. */
export function removeStaleSocket(path: string): void {
  rmSync(path, { force: true });
}
