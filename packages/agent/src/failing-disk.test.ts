/**
 * Every operation on the state directory fails once, or is the last before the power goes: in first boot, enrolment, taking
 * over a generation, and a change of the wrap key (design 9). The agent starts again as itself, with the old state or
 * the new one, and never behind what the hub has seen of it.
 */
import { canonicalJson } from '@rollcall/core/json';
import { describe, expect, it } from 'vitest';
import { FakeHub } from './fake-hub.fixture.ts';
import { assignment, durableState, random } from './fleet.fixture.ts';
import { resetWrapKey } from './reset-wrap-key.ts';
import { type DurableState, encodeDurableState } from './state/durable-state.ts';
import { loadState } from './state/load.ts';
import { createPersist } from './state/persist.ts';
import { DIRECTORY, type Fault, PowerLossFiles, UID } from './state/power-loss-files.fixture.ts';
import { encodeSlot } from './state/slot.ts';
import { makeAuthority } from './tls-hub.fixture.ts';
import { runMachine } from './virtual-machine.fixture.ts';

type Disk = ReadonlyMap<string, Uint8Array>;

const root = makeAuthority().certificateDer;
const nothing: Disk = new Map();
const codes = ['EIO', 'ENOSPC'] as const;

describe.each(codes)('an agent whose disk says %s', (code) => {
  it('once, at any operation from its first boot on, comes to the newest generation as one host', async () => {
    const failed = new Set<string>();
    for (let at = 0; ; at += 1) {
      const hub = new FakeHub(root);
      hub.wanted = assignment({ step: 6, versions: [2, 1] });
      const first = await run(hub, nothing, at, code);
      if (first.failed === undefined) break;
      failed.add(first.failed);
      const { pin } = hub;
      await run(hub, first.disk);
      expect(hub.shown.size).toBe(1);
      if (pin !== undefined) expect(hub.pin?.fingerprint).toBe(pin.fingerprint);
      expect(hub.beats.at(-1)).toMatchObject({ held: { master: { epoch: 1, step: 6 } }, refused: [] });
    }
    expect([...failed].sort()).toEqual(
      ['close', 'create', 'read', 'rename', 'stat', 'sync', 'sync directory', 'write'].sort(),
    );
  });

  it('once, at any operation of a start and of taking over a generation, is in force with the old one or the new', async () => {
    const enrolled = new FakeHub(root);
    const { disk } = await run(enrolled, nothing);
    let faults = 0;
    for (; ; faults += 1) {
      const hub = new FakeHub(root);
      Object.assign(hub, { pin: enrolled.pin, wanted: assignment({ step: 7, versions: [2, 1] }) });
      const first = await run(hub, disk, faults, code);
      if (first.failed === undefined) break;
      const held = (await load(first.disk))?.assignments.get('master');
      expect([5, 7]).toContain(held?.step);
      if (hub.provenBy.has(2)) expect(held?.step).toBe(7);
      await run(hub, first.disk);
      expect([...hub.provenBy].at(-1)).toBe(2);
      expect(hub.shown.size).toBe(1);
    }
    expect(faults).toBeGreaterThan(12);
  });
});

describe('another wrap key', () => {
  it('survives a power cut before any operation, with the former key or the new one, and a whole copy beside the new', async () => {
    const { before, after, cuts } = await keysAfterPowerCuts(resetWrapKey);
    expect(before).toEqual(new Set(['former', 'new']));
    expect([...after]).toEqual(['new']);
    expect(cuts).toBeGreaterThan(15);
  });

  it('is told apart from a change that leaves something out, by the same cuts', async () => {
    const unsynced = await keysAfterPowerCuts((place, at) => resetWrapKey({ ...place, files: lazy(place.files) }, at));
    expect(unsynced.after.size).toBeGreaterThan(1);
    const inPlace = await keysAfterPowerCuts(writeInPlace);
    expect(inPlace.before).toContain('lost');
  });

  it.each(codes)('is in force or not at all after %s at any operation, and can be asked for again', async (code) => {
    for (let at = 0; ; at += 1) {
      const files = await diskWithAState();
      const from = files.operations.length;
      files.fault = (index) => (index === from + at ? { code } : undefined);
      const error = await resetWrapKey(placeOf(files), { random, nowMs: 0 }).catch((thrown: unknown) => thrown);
      files.fault = () => undefined;
      if (files.operations.length <= from + at) break;
      const state = await load(files.contents());
      expect(restOf(state)).toBe(restOf(durableState({})));
      if (error instanceof Error)
        expect(error).toMatchObject({ code: expect.stringMatching(/^(disk_full|state_unwritable|state_unreadable)$/) });
      const again = await resetWrapKey(placeOf(files), { random, nowMs: 60_000 });
      expect((await load(files.contents()))?.wrapKeys[0]?.public.fingerprint).toBe(again.fingerprint);
    }
  });
});

/** One start of the agent, until it has come along or given up; operation `failsAt` fails once. */
async function run(
  hub: FakeHub,
  disk: Disk,
  failsAt?: number,
  code = 'EIO',
): Promise<{ readonly disk: Disk; readonly failed: string | undefined }> {
  const fault: Fault = { code };
  const { files, error } = await runMachine({
    disk,
    hub,
    given: { enrolment: hub.token },
    untilMs: 5_000,
    seed: 'fails once',
    prepare: (prepared) => {
      prepared.fault = (index) => (index === failsAt ? fault : undefined);
    },
  });
  const failed = failsAt === undefined ? undefined : files.operations[failsAt];
  // It may refuse to start, with a word for it; without a fault nothing ends it.
  if (failed === undefined) expect(error).toBeUndefined();
  else if (error !== undefined) expect(error).toMatchObject({ code: 'state_unreadable' });
  return { disk: files.contents(), failed };
}

type Change = typeof resetWrapKey;
type Place = Parameters<Change>[0];

const at = { random, nowMs: Date.UTC(2026, 10, 29, 12, 0, 7) };

function placeOf(files: PowerLossFiles): Place {
  return { files, directory: DIRECTORY, uid: UID };
}

async function load(disk: Disk): Promise<DurableState | undefined> {
  return (await loadState(placeOf(new PowerLossFiles(disk))))?.state;
}

/** Written twice: both slots are there. */
async function diskWithAState(): Promise<PowerLossFiles> {
  const files = new PowerLossFiles();
  const persist = createPersist(files, DIRECTORY, undefined);
  await persist(encodeDurableState(durableState({ life: 1 })));
  await persist(encodeDurableState(durableState({})));
  return new PowerLossFiles(files.contents());
}

type Key = 'former' | 'new' | 'lost';

async function keysAfterPowerCuts(change: Change): Promise<{ before: Set<Key>; after: Set<Key>; cuts: number }> {
  const before = new Set<Key>();
  const after = new Set<Key>();
  for (let cuts = 0; ; cuts += 1) {
    const files = await diskWithAState();
    files.fault = (index) => (index >= cuts ? 'power_cut' : undefined);
    const isCut = await change(placeOf(files), at).then(
      () => false,
      () => true,
    );
    for (const disk of files.disksAfterPowerCut()) (isCut ? before : after).add(await keyOn(disk));
    if (!isCut) return { before, after, cuts };
  }
}

/** Also that the rest is as it was, and that whoever has the new key has a whole copy of the state before. */
async function keyOn(disk: Disk): Promise<Key> {
  const state = await load(disk).catch(() => undefined);
  if (state === undefined || restOf(state) !== restOf(durableState({}))) return 'lost';
  const former = durableState({}).wrapKeys[0]?.public.fingerprint;
  if (state.wrapKeys[0]?.public.fingerprint === former) return 'former';
  const copy = [...disk].find(([name]) => name.startsWith('state-before-'))?.[1];
  const kept = await load(new Map([['state-a', copy ?? new Uint8Array()]])).catch(() => undefined);
  return kept?.wrapKeys[0]?.public.fingerprint === former ? 'new' : 'lost';
}

function restOf(state: DurableState | undefined): string {
  return canonicalJson({ ...(state && encodeDurableState(state)), wrapKeys: [] });
}

// Changes that are wrong on purpose: they show that the cuts above would find it.

/** Files that are never synced. */
function lazy(files: Place['files']): Place['files'] {
  return {
    read: (path, maxBytes) => files.read(path, maxBytes),
    stat: (path) => files.stat(path),
    list: (path) => files.list(path),
    create: async (path, mode) => ({ ...(await files.create(path, mode)), sync: async () => undefined }),
    makeDirectory: (path, mode) => files.makeDirectory(path, mode),
    rename: (from, to) => files.rename(from, to),
    remove: (path) => files.remove(path),
    syncDirectory: (path) => files.syncDirectory(path),
  };
}

/** Writes the new state over the slot that is in force. */
const writeInPlace: Change = async (place) => {
  const { files, directory } = place;
  const loaded = await loadState(place);
  const slots = ['state-a', 'state-b'].map((name) => `${directory}/${name}`);
  const state = { ...(loaded as NonNullable<typeof loaded>).state, wrapKeys: durableState({}).wrapKeys };
  for (const path of slots) {
    await files.remove(path);
    const file = await files.create(path, 0o600);
    await file.write(encodeSlot({ counter: 9, state: encodeDurableState(state) }));
    await file.sync();
  }
  await files.syncDirectory(directory);
  return { host: state.host, former: '', fingerprint: '', keptAs: '' };
};
