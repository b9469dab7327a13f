/**
 * Keeps a second agent off a state directory. The lock is a listening Unix socket: the kernel ends it with its process,
 * also after kill -9, and tells a live one from a dead one to whoever connects.
 *
 * Each agent announces itself under a name of its own, and only then looks at the others: of two that start in the same
 * instant at least one sees the other, so never do both go on. No name is ever used twice, so removing a dead one cannot
 * hit a live one.
 */
import { chmod, readdir, rename, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { encodeHex } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import type { Random } from '@rollcall/core/ports';
import { systemCode, unreadable, unwritable } from '../state/files-on-disk.ts';
import { assertSocketPath } from './unix-socket-path.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

/** Short, since a socket's path is. */
const LOCK_NAME = /^lock-[0-9a-f]{8}$/;
const TEMPORARY_NAME = /^\.[0-9a-f]{8}$/;

/** Throws `state_locked` while another agent holds or is about to take the directory. */
export async function lockDirectory(directory: string, random: Random): Promise<DirectoryLock> {
  const id = encodeHex(random(4));
  const path = `${directory}/lock-${id}`;
  const temporary = `${directory}/.${id}`;
  assertSocketPath(path);
  const server = await listen(temporary);
  // Renamed only once it listens: between bind and listen it would refuse connections, and pass for dead.
  await announce(temporary, path, directory);
  const lock = { release: () => close(server, path) };
  try {
    const names = await readdir(directory).catch((error: unknown) => {
      throw unreadable(directory, error);
    });
    for (const name of names) {
      const other = `${directory}/${name}`;
      if (!LOCK_NAME.test(name) || other === path) continue;
      if (await isListening(other)) throw new RollcallError('state_locked', { directory });
      await unlink(other).catch(() => undefined);
    }
    // Of starts that were cut short, or of one that is under way and will find itself too late.
    const leftovers = names.filter((name) => TEMPORARY_NAME.test(name));
    await Promise.all(leftovers.map((name) => unlink(`${directory}/${name}`).catch(() => undefined)));
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function announce(temporary: string, path: string, directory: string): Promise<void> {
  try {
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (error) {
    // Another agent has taken the directory meanwhile, and cleared it.
    if (systemCode(error) === 'ENOENT') throw new RollcallError('state_locked', { directory }, { cause: error });
    throw unwritable(path, error);
  }
}

function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(unwritable(path, error)));
    server.listen(path, () => resolve(server));
  });
}

const DEAD = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK']);

/** Whatever is not certainly dead is alive: a full backlog of a stopped process refuses nothing. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(!DEAD.has(error.code ?? '')));
  });
}

async function close(server: Server, path: string): Promise<void> {
  await unlink(path).catch(() => undefined);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
