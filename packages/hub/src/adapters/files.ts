/** The few files of a hub: the key-encryption key, what `hub init` writes, the operator's socket. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decodeBase64url, encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { parseTokenFile, SecretBytes } from '@rollcall/core/keys';

const KEK_BYTES = 32;

/** 32 bytes in base64url, mode 0600 or tighter. */
export function readKek(file: string): SecretBytes<'kek'> {
  let mode: number;
  let bytes: Uint8Array;
  try {
    mode = statSync(file).mode & 0o777;
    bytes = readFileSync(file);
  } catch (cause) {
    throw new RollcallError('kek_unreadable', { file, reason: (cause as { code?: string }).code ?? '' }, { cause });
  }
  if ((mode & 0o077) !== 0) {
    throw new RollcallError('kek_loose_mode', { file, hint: `Mend it with: chmod 600 ${file}` });
  }
  const key = decodeBase64url(parseTokenFile(bytes));
  if (key?.length !== KEK_BYTES) throw new RollcallError('kek_unreadable', { file, reason: 'malformed' });
  return new SecretBytes('kek', key);
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

export function exists(path: string): boolean {
  return existsSync(path);
}

/** The socket that a hub left behind when it was killed. */
export function removeStaleSocket(path: string): void {
  rmSync(path, { force: true });
}
