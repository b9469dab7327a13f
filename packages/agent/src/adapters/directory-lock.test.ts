import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDirectory } from './directory-lock.ts';
import { systemRandom } from './system-random.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-lock-'));
});

afterEach(() => rm(directory, { recursive: true }));

const holder = `
  const { renameSync } = require('node:fs');
  const [, directory] = process.argv;
  require('node:net').createServer(() => {}).listen(directory + '/.00000000', () => {
    renameSync(directory + '/.00000000', directory + '/lock-00000000');
    process.stdout.write('held');
  });
`;

/** Another process that holds the lock, as an agent does. */
async function holdElsewhere(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', holder, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return child;
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  return ended;
}

describe('the lock of a state directory', () => {
  it('is held by one, and free again after', async () => {
    const lock = await lockDirectory(directory, systemRandom);
    await expect(lockDirectory(directory, systemRandom)).rejects.toMatchObject({ code: 'state_locked' });
    await lock.release();
    await (await lockDirectory(directory, systemRandom)).release();
    expect(await readdir(directory)).toEqual([]);
  });

  it('is never held by two, whoever starts at the same instant', async () => {
    for (let round = 0; round < 20; round += 1) {
      const attempts = await Promise.allSettled(
        Array.from({ length: 5 }, () => lockDirectory(directory, systemRandom)),
      );
      const held = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
      expect(held.length).toBeLessThanOrEqual(1);
      for (const lock of held) await lock.release();
    }
    await (await lockDirectory(directory, systemRandom)).release();
  });

  it('of another process holds, also while that one is stopped, and ends with it after kill -9', async () => {
    const child = await holdElsewhere();
    await expect(lockDirectory(directory, systemRandom)).rejects.toMatchObject({ code: 'state_locked' });
    child.kill('SIGSTOP');
    await expect(lockDirectory(directory, systemRandom)).rejects.toMatchObject({ code: 'state_locked' });
    await end(child, 'SIGKILL');
    expect(await readdir(directory)).toEqual(['lock-00000000']);
    const lock = await lockDirectory(directory, systemRandom);
    expect(await readdir(directory)).toHaveLength(1);
    await lock.release();
  });

  it('clears what starts that were cut short have left', async () => {
    await writeFile(join(directory, '.0badcafe'), '');
    const lock = await lockDirectory(directory, systemRandom);
    expect(await readdir(directory)).toHaveLength(1);
    await lock.release();
  });

  it('says so when the path is too long for a socket, instead of taking another path', async () => {
    const long = join(directory, 'x'.repeat(100));
    await expect(lockDirectory(long, systemRandom)).rejects.toMatchObject({ code: 'socket_path_too_long' });
  });
});
