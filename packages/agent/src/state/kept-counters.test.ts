import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemFiles } from '../adapters/system-files.ts';
import { keepCounters, takeKeptCounters } from './kept-counters.ts';
import type { StateDirectory } from './load.ts';
import { DIRECTORY, PowerLossFiles, UID } from './power-loss-files.fixture.ts';

const counters = { counters: [{ secret: 'api', id: 'AAAAAAAAAAAAAAAAAAAAAA', hits: [{ version: 1, count: 7 }] }] };
let place: StateDirectory;

beforeEach(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-counters-'));
  place = { files: systemFiles, directory, uid: process.getuid?.() ?? 0 };
});

afterEach(() => rm(place.directory, { recursive: true }));

const path = () => join(place.directory, 'counters');

describe('counts of the agent before', () => {
  it('are taken once: who starts after a kill finds none', async () => {
    await keepCounters(place, counters);
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    expect(await takeKeptCounters(place)).toEqual(counters);
    expect(await readdir(place.directory)).toEqual([]);
    expect(await takeKeptCounters(place)).toBeUndefined();
  });

  it('take the place of older ones, and of what a crash has left', async () => {
    await writeFile(`${path()}.tmp`, 'torn');
    await keepCounters(place, { counters: [] });
    await keepCounters(place, counters);
    expect(await takeKeptCounters(place)).toEqual(counters);
    expect(await readdir(place.directory)).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['a file that others may read', () => chmod(path(), 0o644), 'state_loose_mode'],
    ['no JSON', () => writeFile(path(), '{'), 'malformed_json'],
  ])('are not counted on from %s', async (_, spoil, code) => {
    await keepCounters(place, counters);
    await spoil();
    await expect(takeKeptCounters(place)).rejects.toMatchObject({ code });
  });
});

it('once they were taken, no power cut brings them back; and before, none leaves a part of them', async () => {
  const disk = new PowerLossFiles();
  await keepCounters({ files: disk, directory: DIRECTORY, uid: UID }, counters);
  const kept = disk.disksAfterPowerCut();
  expect(kept.length).toBeGreaterThan(0);
  for (const left of kept) {
    const files = new PowerLossFiles(left);
    expect(await takeKeptCounters({ files, directory: DIRECTORY, uid: UID })).toEqual(counters);
    for (const after of files.disksAfterPowerCut()) {
      const next = new PowerLossFiles(after);
      expect(await takeKeptCounters({ files: next, directory: DIRECTORY, uid: UID })).toBeUndefined();
    }
  }
});

it('a disk that does not take the removal gives nothing to count on', async () => {
  const disk = new PowerLossFiles();
  await keepCounters({ files: disk, directory: DIRECTORY, uid: UID }, counters);
  for (const failing of ['remove', 'sync directory']) {
    const files = new PowerLossFiles(disk.contents());
    files.fault = (_, operation) => (operation === failing ? { code: 'EIO' } : undefined);
    await expect(takeKeptCounters({ files, directory: DIRECTORY, uid: UID })).rejects.toMatchObject({ code: 'EIO' });
    expect(files.operations).toContain(failing);
  }
});
