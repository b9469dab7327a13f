/** The power-loss and fault cases of design 4 and 9: at every operation, and for every disk that a power cut can leave. */
import { describe, expect, it } from 'vitest';
import { durableState } from '../fleet.fixture.ts';
import { encodeDurableState } from './durable-state.ts';
import { loadState, type StateDirectory } from './load.ts';
import { createPersist, type InForce, type Persist } from './persist.ts';
import { DIRECTORY, type Fault, PowerLossFiles, UID } from './power-loss-files.fixture.ts';
import { encodeSlot } from './slot.ts';

/** States told apart by their life: 1, 2, 3, … */
function stateOf(life: number) {
  return encodeDurableState(durableState({ life }));
}

async function lifeOn(disk: ReadonlyMap<string, Uint8Array>): Promise<number | undefined> {
  return (await loadState(at(new PowerLossFiles(disk))))?.state.life;
}

function at(files: PowerLossFiles): StateDirectory {
  return { files, directory: DIRECTORY, uid: UID };
}

/** A disk on which `writes` states were written, and the last of them is in force. */
async function diskWith(
  writes: number,
): Promise<{ disk: ReadonlyMap<string, Uint8Array>; inForce: InForce | undefined }> {
  const files = new PowerLossFiles();
  const persist = createPersist(files, DIRECTORY, undefined);
  for (let life = 1; life <= writes; life += 1) await persist(stateOf(life));
  return { disk: files.contents(), inForce: (await loadState(at(files)))?.inForce };
}

type MakePersist = typeof createPersist;

/** What each cut of the next write leaves, on every disk that is possible then. */
async function livesAfterPowerCuts(
  writes: number,
  makePersist: MakePersist,
): Promise<{ before: Set<number | undefined | 'refused'>; after: Set<number | undefined | 'refused'>; cuts: number }> {
  const { disk, inForce } = await diskWith(writes);
  const before = new Set<number | undefined | 'refused'>();
  const after = new Set<number | undefined | 'refused'>();
  for (let cuts = 0; ; cuts += 1) {
    const files = new PowerLossFiles(disk);
    files.fault = (index) => (index === cuts ? 'power_cut' : undefined);
    const persist = makePersist(files, DIRECTORY, inForce);
    const isCut = await persist(stateOf(writes + 1)).then(
      () => false,
      () => true,
    );
    for (const left of files.disksAfterPowerCut()) {
      (isCut ? before : after).add(await lifeOn(left).catch(() => 'refused' as const));
    }
    if (!isCut) return { before, after, cuts };
  }
}

describe('a write of the state', () => {
  it('survives a power cut before any of its operations, with the old state or the new one', async () => {
    for (const writes of [1, 2, 3]) {
      const { before, after, cuts } = await livesAfterPowerCuts(writes, createPersist);
      expect(before).toEqual(new Set([writes, writes + 1]));
      expect([...after]).toEqual([writes + 1]);
      expect(cuts).toBeGreaterThan(5);
    }
  });

  it('survives a power cut at the very first write, with nothing or the whole', async () => {
    const { before, after } = await livesAfterPowerCuts(0, createPersist);
    expect(before).toEqual(new Set([undefined, 1]));
    expect([...after]).toEqual([1]);
  });

  it('is told apart from writers that leave something out, by the same cuts', async () => {
    const unsyncedFile = await livesAfterPowerCuts(1, withoutFileSync);
    expect(unsyncedFile.after).toContain(1);
    const unsyncedDirectory = await livesAfterPowerCuts(1, withoutDirectorySync);
    expect(unsyncedDirectory.after).toContain(1);
    const inPlace = await livesAfterPowerCuts(2, overTheSlotInForce);
    expect([...inPlace.before].some((life) => life !== 2 && life !== 3)).toBe(true);
  });

  it.each<readonly [string, Fault]>([
    ['an error of the disk', { code: 'EIO' }],
    ['a full disk', { code: 'ENOSPC' }],
    ['an exceeded quota', { code: 'EDQUOT' }],
    ['a disk turned read-only', { code: 'EROFS' }],
  ])('leaves the old state or the new one, and goes on later, after %s at any operation', async (_what, fault) => {
    const { disk, inForce } = await diskWith(2);
    const failed: string[] = [];
    for (let index = 0; ; index += 1) {
      const files = new PowerLossFiles(disk);
      files.fault = (at) => (at === index ? fault : undefined);
      const persist = createPersist(files, DIRECTORY, inForce);
      const error = await persist(stateOf(3)).catch((thrown: unknown) => thrown);
      files.fault = () => undefined;
      if (error === undefined) break;
      failed.push(files.operations[index] as string);
      const isFull = typeof fault === 'object' && 'code' in fault && ['ENOSPC', 'EDQUOT'].includes(fault.code);
      expect(error).toMatchObject({ code: isFull ? 'disk_full' : 'state_unwritable' });
      expect(await lifeOn(files.contents())).toBeOneOf([2, 3]);
      for (const left of files.disksAfterPowerCut()) expect(await lifeOn(left)).toBeOneOf([2, 3]);
      // What was not in force must not win over what is written next.
      await persist(stateOf(4));
      for (const left of files.disksAfterPowerCut()) expect(await lifeOn(left)).toBe(4);
      expect(files.retriedSyncs).toBe(0);
      expect([...files.contents().keys()].sort()).toEqual(['state-a', 'state-b']);
    }
    expect(new Set(failed)).toEqual(new Set(['create', 'write', 'sync', 'close', 'rename', 'sync directory', 'read']));
  });

  it('goes on after short writes until all is written, and says so when a file takes nothing more', async () => {
    const short = new PowerLossFiles();
    short.fault = (_index, operation) => (operation === 'write' ? { shortWrite: 100 } : undefined);
    await createPersist(short, DIRECTORY, undefined)(stateOf(1));
    expect(short.operations.filter((operation) => operation === 'write').length).toBeGreaterThan(2);
    expect(await lifeOn(short.contents())).toBe(1);
    const stuck = new PowerLossFiles();
    stuck.fault = (_index, operation) => (operation === 'write' ? { shortWrite: 0 } : undefined);
    await expect(createPersist(stuck, DIRECTORY, undefined)(stateOf(1))).rejects.toMatchObject({
      code: 'state_unwritable',
    });
  });

  it('is not in force when something else is read back', async () => {
    const { disk, inForce } = await diskWith(1);
    const files = new PowerLossFiles(disk);
    const read = files.read.bind(files);
    files.read = async (path) => (await read(path)).map((byte, index) => (index === 70 ? byte ^ 1 : byte));
    const persist = createPersist(files, DIRECTORY, inForce);
    await expect(persist(stateOf(2))).rejects.toMatchObject({ code: 'state_unwritable' });
    files.read = read;
    await persist(stateOf(3));
    expect(await lifeOn(files.contents())).toBe(3);
  });

  it('removes what a crash left under its temporary name, and never writes into it', async () => {
    const { disk, inForce } = await diskWith(1);
    const files = new PowerLossFiles(new Map([...disk, ['state.tmp', new Uint8Array(9)]]));
    await createPersist(files, DIRECTORY, inForce)(stateOf(2));
    expect([...files.contents().keys()].sort()).toEqual(['state-a', 'state-b']);
    expect(await lifeOn(files.contents())).toBe(2);
  });

  it('keeps to one at a time', async () => {
    const persist = createPersist(new PowerLossFiles(), DIRECTORY, undefined);
    const first = persist(stateOf(1));
    await expect(persist(stateOf(2))).rejects.toThrow('one write at a time');
    await first;
  });
});

describe('reading the state back', () => {
  it('makes durable what a killed agent had renamed, before anything is said on its strength', async () => {
    const seen = new Set<number | undefined>();
    for (const writes of [0, 1, 2]) {
      const { disk, inForce } = await diskWith(writes);
      for (let kill = 0; kill < 10; kill += 1) {
        const files = new PowerLossFiles(disk);
        files.fault = (index) => (index >= kill ? 'power_cut' : undefined);
        await createPersist(files, DIRECTORY, inForce)(stateOf(writes + 1)).catch(() => undefined);
        files.fault = () => undefined;
        // The next process on the same machine sees what the last one did, written or not.
        const life = (await loadState(at(files)))?.state.life;
        for (const left of files.disksAfterPowerCut()) expect(await lifeOn(left)).toBe(life);
        seen.add(life);
      }
    }
    expect(seen).toEqual(new Set([undefined, 1, 2, 3]));
  });

  it('takes the good slot beside a torn one, whatever stands in the temporary file, and says which is torn', async () => {
    const { disk } = await diskWith(3);
    for (const torn of ['state-a', 'state-b']) {
      const good = encodeSlot({ counter: 99, state: stateOf(9) });
      const files = new PowerLossFiles(new Map([...cut(disk, torn), ['state.tmp', good]]));
      const loaded = await loadState(at(files));
      // Three writes: a holds 1 and then 3, b holds 2.
      expect(loaded).toMatchObject({ state: { life: torn === 'state-a' ? 2 : 3 }, damaged: `${DIRECTORY}/${torn}` });
      const untorn = await loadState(at(new PowerLossFiles(disk)));
      expect(untorn?.state.life).toBe(3);
      expect(untorn).not.toHaveProperty('damaged');
    }
  });

  it('mends the torn slot with the next write', async () => {
    const { disk } = await diskWith(3);
    const files = new PowerLossFiles(cut(disk, 'state-a'));
    const loaded = await loadState(at(files));
    await createPersist(files, DIRECTORY, loaded?.inForce)(stateOf(4));
    expect(await loadState(at(new PowerLossFiles(files.contents())))).toMatchObject({ state: { life: 4 } });
    expect(await loadState(at(new PowerLossFiles(files.contents())))).not.toHaveProperty('damaged');
  });

  it('refuses two torn slots, and one torn slot that is alone, without a change', async () => {
    const { disk } = await diskWith(2);
    for (const names of [['state-a', 'state-b'], ['state-a']]) {
      const torn = new Map([...names.reduce(cut, disk)].filter(([name]) => names.includes(name)));
      const files = new PowerLossFiles(torn);
      await expect(loadState(at(files))).rejects.toMatchObject({
        code: 'state_torn',
        details: { files: names.map((name) => `${DIRECTORY}/${name}`) },
      });
      expect(files.contents()).toEqual(torn);
    }
  });

  it('refuses whenever anything cannot be read, for any reason but that it is not there', async () => {
    const { disk } = await diskWith(2);
    const operations = ['stat', 'read', 'sync directory'];
    for (const operation of operations) {
      for (const code of ['EIO', 'EACCES', 'ELOOP', 'EMFILE']) {
        for (const which of [0, 1, 2]) {
          const files = new PowerLossFiles(disk);
          let met = -1;
          files.fault = (_index, performed) => {
            if (performed !== operation) return undefined;
            met += 1;
            return met === which ? { code } : undefined;
          };
          const error = await loadState(at(files)).catch((thrown: unknown) => thrown);
          if (met >= which) expect(error).toMatchObject({ code: 'state_unreadable' });
        }
      }
    }
  });

  it('is a first boot only when there is no slot at all', async () => {
    expect(await loadState(at(new PowerLossFiles()))).toBeUndefined();
    expect(await loadState(at(new PowerLossFiles(new Map([['state.tmp', new Uint8Array(3)]]))))).toBeUndefined();
  });

  it('refuses a slot that is whole and holds something else, rather than going back to the older one', async () => {
    const { disk } = await diskWith(2);
    const strange = new Map([...disk, ['state-a', encodeSlot({ counter: 9, state: { host: 'agent-7' } })]]);
    await expect(loadState(at(new PowerLossFiles(strange)))).rejects.toMatchObject({
      code: 'state_unreadable',
      details: { file: `${DIRECTORY}/state-a` },
    });
  });
});

function cut(disk: ReadonlyMap<string, Uint8Array>, name: string): ReadonlyMap<string, Uint8Array> {
  const bytes = disk.get(name) as Uint8Array;
  return new Map([...disk, [name, bytes.subarray(0, bytes.length - 20)]]);
}

// Writers that are wrong on purpose: they show that the cuts above would find it.

function withoutFileSync(...[files, directory, inForce]: Parameters<MakePersist>): Persist {
  const lazy = wrapFiles(files as PowerLossFiles, {
    create: async (path, mode) => ({ ...(await files.create(path, mode)), sync: async () => undefined }),
  });
  return createPersist(lazy, directory, inForce);
}

function withoutDirectorySync(...[files, directory, inForce]: Parameters<MakePersist>): Persist {
  return createPersist(
    wrapFiles(files as PowerLossFiles, { syncDirectory: async () => undefined }),
    directory,
    inForce,
  );
}

/** Writes into the slot that is in force. */
function overTheSlotInForce(...[files, directory, inForce]: Parameters<MakePersist>): Persist {
  return async (state) => {
    const path = `${directory}/${inForce?.slot === 0 ? 'state-a' : 'state-b'}`;
    await files.remove(path);
    const file = await files.create(path, 0o600);
    await file.write(encodeSlot({ counter: (inForce?.counter ?? 0) + 1, state }));
    await file.sync();
    await files.syncDirectory(directory);
  };
}

function wrapFiles(files: PowerLossFiles, changes: Partial<PowerLossFiles>) {
  return {
    read: files.read.bind(files),
    stat: files.stat.bind(files),
    list: files.list.bind(files),
    create: files.create.bind(files),
    makeDirectory: files.makeDirectory.bind(files),
    rename: files.rename.bind(files),
    remove: files.remove.bind(files),
    syncDirectory: files.syncDirectory.bind(files),
    ...changes,
  };
}
