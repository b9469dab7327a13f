import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalJson } from '@rollcall/core/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDirectory } from './adapters/directory-lock.ts';
import { systemFiles } from './adapters/system-files.ts';
import { durableState, random } from './fleet.fixture.ts';
import { resetWrapKey as resetThroughLock } from './main.ts';
import { resetWrapKey } from './reset-wrap-key.ts';
import { type DurableState, encodeDurableState } from './state/durable-state.ts';
import { loadState, prepareDirectory, type StateDirectory } from './state/load.ts';
import { createPersist } from './state/persist.ts';

const at = { random, nowMs: Date.UTC(2026, 10, 29, 12, 0, 7) };
const KEPT = 'state-before-20261129120007';
let parent: string;
let place: StateDirectory;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'rollcall-reset-'));
  place = { files: systemFiles, directory: join(parent, 'agent'), uid: process.getuid?.() ?? 0 };
});

afterEach(() => rm(parent, { recursive: true }));

async function write(state: DurableState): Promise<void> {
  await prepareDirectory(place);
  await createPersist(systemFiles, place.directory, (await loadState(place))?.inForce)(encodeDurableState(state));
}

async function read(): Promise<DurableState | undefined> {
  return (await loadState(place))?.state;
}

describe('another wrap key', () => {
  it('is durable, and everything else stays', async () => {
    const before = durableState({});
    await write(before);
    const done = await resetWrapKey(place, at);
    const after = await read();
    expect(after?.wrapKeys).toHaveLength(1);
    expect(after?.wrapKeys[0]?.public.fingerprint).toBe(done.fingerprint);
    expect(done).toMatchObject({ host: before.host, former: before.wrapKeys[0]?.public.fingerprint });
    expect(done.fingerprint).not.toBe(done.former);
    const rest = (state: DurableState | undefined) =>
      canonicalJson({ ...(state && encodeDurableState(state)), wrapKeys: [] });
    expect(rest(after)).toBe(rest(before));
  });

  it('leaves the state as it was in a private file, from which it can be brought back', async () => {
    await write(durableState({}));
    const whole = await readFile(join(place.directory, 'state-a'));
    const { keptAs, former } = await resetWrapKey(place, at);
    expect(keptAs).toBe(join(place.directory, KEPT));
    expect(await readFile(keptAs)).toEqual(whole);
    expect((await stat(keptAs)).mode & 0o777).toBe(0o600);
    for (const slot of ['state-a', 'state-b']) await rm(join(place.directory, slot));
    await writeFile(join(place.directory, 'state-a'), whole, { mode: 0o600 });
    expect((await read())?.wrapKeys[0]?.public.fingerprint).toBe(former);
  });

  it('drops a token that is being redeemed, whose proof was made with the former key', async () => {
    const enrolment = {
      token: 'ab'.repeat(32),
      hubs: ['https://hub:7443'],
      spki: [new Uint8Array(32)],
      instance: new Uint8Array(16),
      proof: new Uint8Array(32),
    };
    await write(durableState({ enrolment }));
    expect((await read())?.enrolment?.token).toBe(enrolment.token);
    await resetWrapKey(place, at);
    expect((await read())?.enrolment).toBeUndefined();
  });
});

describe('no key is made', () => {
  it('where there is no state', async () => {
    await prepareDirectory(place);
    await expect(resetWrapKey(place, at)).rejects.toMatchObject({ code: 'identity_missing' });
    expect(await readdir(place.directory)).toEqual([]);
  });

  it('over a state that cannot be read, which stays as it is', async () => {
    await write(durableState({}));
    const slot = join(place.directory, 'state-a');
    await writeFile(slot, 'torn');
    await expect(resetWrapKey(place, at)).rejects.toMatchObject({ code: 'state_torn' });
    await chmod(slot, 0o644);
    await expect(resetWrapKey(place, at)).rejects.toMatchObject({ code: 'state_loose_mode' });
    expect(await readdir(place.directory)).toEqual(['state-a']);
    expect(await readFile(slot, 'utf8')).toBe('torn');
  });

  it('while an agent runs there', async () => {
    await write(durableState({}));
    const lock = await lockDirectory(place.directory, random);
    await expect(resetThroughLock(place.directory)).rejects.toMatchObject({ code: 'state_locked' });
    await lock.release();
    await expect(resetThroughLock(place.directory)).resolves.toMatchObject({ host: durableState({}).host });
  });

  it('when the copy cannot be written: the former one stays in force', async () => {
    await write(durableState({}));
    const full = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    const failing = { ...place, files: { ...systemFiles, create: full } };
    await expect(resetWrapKey(failing, at)).rejects.toMatchObject({ code: 'disk_full' });
    expect((await read())?.wrapKeys[0]?.public.fingerprint).toBe(durableState({}).wrapKeys[0]?.public.fingerprint);
  });
});
