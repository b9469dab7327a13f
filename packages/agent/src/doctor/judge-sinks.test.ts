/** Findings about token files while no agent runs: each beside the same sink in order, and nothing is changed. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemFiles } from '../adapters/system-files.ts';
import { durableState } from '../fleet.fixture.ts';
import { examineAgent } from '../main.ts';
import { encodeDurableState } from '../state/durable-state.ts';
import { prepareDirectory } from '../state/load.ts';
import { createPersist } from '../state/persist.ts';

let place: string;

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), 'rollcall-doctor-'));
  mkdirSync(join(place, 'etc'), { mode: 0o755 });
  const directory = join(place, 'state');
  await prepareDirectory({ files: systemFiles, directory, uid: process.getuid?.() ?? 0 });
  await createPersist(systemFiles, directory, undefined)(encodeDurableState(durableState({ hubs: [] })));
});
afterEach(() => rmSync(place, { recursive: true }));

async function codes(path = join(place, 'etc', 'web')): Promise<string[]> {
  const { findings } = await examineAgent({ stateDir: join(place, 'state'), sinks: [{ name: 'web', path }] });
  for (const { remedy, about } of findings) expect([remedy.length > 0, about]).toEqual([true, path]);
  return findings.map(({ code }) => code);
}

describe('a sink of an agent that does not run', () => {
  it('is in order before it was written, and after', async () => {
    expect(await codes()).toEqual([]);
    symlinkSync('.web.rollcall-0123456789abcdef', join(place, 'etc', 'web'));
    expect(await codes()).toEqual([]);
  });

  it('is found behind what is in its way', async () => {
    writeFileSync(join(place, 'etc', 'web'), 'mine');
    expect(await codes()).toEqual(['sink_in_the_way']);
    expect(readdirSync(join(place, 'etc'))).toEqual(['web']);
  });

  it('is found where its directory is missing', async () => {
    expect(await codes(join(place, 'none', 'web'))).toEqual(['sink_parent_missing']);
  });

  it('is found where others may change its directory', async () => {
    chmodSync(join(place, 'etc'), 0o777);
    expect(await codes()).toEqual(['sink_parent_unsafe']);
    chmodSync(join(place, 'etc'), 0o755);
    expect(await codes()).toEqual([]);
  });
});
