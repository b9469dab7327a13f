/** The state directory on a real file system. Run as root too: modes are looked at, not run into. */
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemFiles } from '../adapters/system-files.ts';
import { durableState } from '../fleet.fixture.ts';
import { encodeDurableState } from './durable-state.ts';
import { loadState, prepareDirectory, type StateDirectory } from './load.ts';
import { createPersist } from './persist.ts';

let parent: string;
let place: StateDirectory;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'rollcall-state-'));
  place = { files: systemFiles, directory: join(parent, 'agent 7'), uid: process.getuid?.() ?? 0 };
});

afterEach(() => rm(parent, { recursive: true }));

async function writeStates(lives: number): Promise<void> {
  await prepareDirectory(place);
  const persist = createPersist(systemFiles, place.directory, (await loadState(place))?.inForce);
  for (let life = 1; life <= lives; life += 1) await persist(encodeDurableState(durableState({ life })));
}

function slot(name: 'state-a' | 'state-b'): string {
  return join(place.directory, name);
}

describe('a state directory', () => {
  it('is made private whatever the umask, and its files too', async () => {
    const umask = process.umask(0);
    try {
      await writeStates(2);
    } finally {
      process.umask(umask);
    }
    expect((await stat(place.directory)).mode & 0o777).toBe(0o700);
    expect(await readdir(place.directory)).toEqual(['state-a', 'state-b']);
    for (const name of ['state-a', 'state-b'] as const) expect((await stat(slot(name))).mode & 0o777).toBe(0o600);
    expect((await loadState(place))?.state.life).toBe(2);
  });

  it('is not made where its parent is missing: a mount may be', async () => {
    await expect(prepareDirectory({ ...place, directory: join(parent, 'gone', 'agent') })).rejects.toMatchObject({
      code: 'state_unwritable',
      details: { cause: 'ENOENT' },
    });
  });

  it.each(['750', '701', '777'])('is refused with mode %s, with the command that mends it', async (mode) => {
    await writeStates(1);
    await chmod(place.directory, Number.parseInt(mode, 8));
    const fix = `chmod 700 '${place.directory}'`;
    for (const open of [prepareDirectory, loadState]) {
      await expect(open(place)).rejects.toMatchObject({ code: 'state_loose_mode', details: { fix, mode: `0${mode}` } });
    }
    await chmod(place.directory, 0o700);
    await prepareDirectory(place);
    expect((await loadState(place))?.state.life).toBe(1);
  });

  it.each(['640', '604', '666'])(
    'is refused while a slot has mode %s, with the command that mends it',
    async (mode) => {
      await writeStates(1);
      await chmod(slot('state-a'), Number.parseInt(mode, 8));
      await expect(loadState(place)).rejects.toMatchObject({
        code: 'state_loose_mode',
        details: { file: slot('state-a'), fix: `chmod 600 '${slot('state-a')}'` },
      });
      await chmod(slot('state-a'), 0o600);
      expect((await loadState(place))?.state.life).toBe(1);
    },
  );

  it('is refused when it, or a file in it, belongs to someone else', async () => {
    await writeStates(1);
    const stranger = { ...place, uid: place.uid + 1 };
    await expect(prepareDirectory(stranger)).rejects.toMatchObject({
      code: 'state_wrong_owner',
      details: { fix: `chown ${place.uid + 1} '${place.directory}'` },
    });
    await prepareDirectory(place);
    if (process.getuid?.() !== 0) return; // only root can give a file away
    await chown(slot('state-a'), 12_345, 12_345);
    await expect(loadState(place)).rejects.toMatchObject({
      code: 'state_wrong_owner',
      details: { file: slot('state-a') },
    });
  });

  it.each<readonly [string, (path: string) => Promise<unknown>, string]>([
    ['a directory', (path) => mkdir(path), 'not a file'],
    ['a link to a good slot', async (path) => symlink(slot('state-b'), path), 'not a file'],
    [
      'a file that is far too large',
      async (path) => writeFile(path, new Uint8Array(5 * 1024 * 1024), { mode: 0o600 }),
      'EFBIG',
    ],
  ])('is refused, and left as it is, with %s in the place of a slot', async (_what, put, cause) => {
    await writeStates(2);
    await rm(slot('state-a'));
    await put(slot('state-a'));
    const before = await readFile(slot('state-b'));
    await expect(loadState(place)).rejects.toMatchObject({
      code: 'state_unreadable',
      details: { file: slot('state-a'), cause },
    });
    expect(await readFile(slot('state-b'))).toEqual(before);
    expect(await readdir(place.directory)).toEqual(['state-a', 'state-b']);
  });

  it('is refused when it is a file', async () => {
    await writeFile(place.directory, 'x', { mode: 0o600 });
    await expect(prepareDirectory(place)).rejects.toMatchObject({ code: 'state_unreadable' });
  });

  it('is refused with both slots torn, with no new identity made; and used with one', async () => {
    await writeStates(2);
    const good = await readFile(slot('state-b'));
    await writeFile(slot('state-b'), good.subarray(0, 100));
    expect(await loadState(place)).toMatchObject({ state: { life: 1 }, damaged: slot('state-b') });
    await writeFile(slot('state-a'), '');
    await expect(loadState(place)).rejects.toMatchObject({
      code: 'state_torn',
      details: { files: [slot('state-a'), slot('state-b')] },
    });
    expect(await readdir(place.directory)).toEqual(['state-a', 'state-b']);
    expect(await readFile(slot('state-b'))).toEqual(good.subarray(0, 100));
  });

  it('goes on with the other slot after a write that could not take its place', async () => {
    await writeStates(2);
    const persist = createPersist(systemFiles, place.directory, (await loadState(place))?.inForce);
    await rm(slot('state-a'));
    await mkdir(slot('state-a'));
    await expect(persist(encodeDurableState(durableState({ life: 3 })))).rejects.toMatchObject({
      code: 'state_unwritable',
    });
    expect(await readdir(place.directory)).toEqual(['state-a', 'state-b']);
    await rm(slot('state-a'), { recursive: true });
    expect((await loadState(place))?.state.life).toBe(2);
    await persist(encodeDurableState(durableState({ life: 3 })));
    expect((await loadState(place))?.state.life).toBe(3);
  });
});
