/** A token that the hub has taken away: its files go, the link first, and its program is told once they are gone. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Assignment } from '@rollcall/core/seal';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemSinkFiles } from '../adapters/sink-files.ts';
import {
  contentAt,
  FakeProcesses,
  holding,
  makePlace,
  type Place,
  type Running,
  runSinks,
} from './running-sinks.fixture.ts';
import { sinkConfig, tokenAssignment, tokenText } from './sink.fixture.ts';

const held = tokenAssignment({ step: 1, versions: [1] });
const next = tokenAssignment({ step: 2, versions: [1, 2] });
const dropped: Assignment = { ...held, step: 3, accept: [], present: 0 };
const again = tokenAssignment({ step: 4, versions: [2] });
const gone = { state: 'unwritten', version: null, step: 3, problem: 'sink_dropped', live: null } as const;

let place: Place;
const stopping: Running[] = [];

beforeEach(() => {
  place = makePlace();
});

afterEach(async () => {
  for (const running of stopping.splice(0)) await running.stop();
  place.clear();
});

function run(...given: Parameters<typeof runSinks>): Running {
  const running = runSinks(...given);
  stopping.push(running);
  return running;
}

const config = () => sinkConfig(place.path);
const reloading = () =>
  sinkConfig(place.path, { reload: { by: 'command', command: ['/bin/reload'], timeoutMs: 1_000 } });

describe('a sink whose token was dropped', () => {
  it('is gone, with every directory that it ever had, and says so', async () => {
    const running = run(place, [config()], [held]);
    await running.until('web', { state: 'reloaded', version: 1 });
    running.sinks.hold(holding(next));
    await running.until('web', { state: 'reloaded', step: 2 });
    expect(readdirSync(place.directory)).toHaveLength(3);
    running.sinks.hold(holding(dropped));
    await running.until('web', gone);
    expect(readdirSync(place.directory)).toEqual([]);
    await running.nextMinute();
    expect(running.sinks.facts()).toMatchObject([gone]);
    // The control: given back, it is written.
    running.sinks.hold(holding(again));
    await running.until('web', { state: 'reloaded', version: 2, step: 4 });
    expect(contentAt(place.path)?.['present']).toBe(tokenText(2));
  });

  it('is gone too where no agent ran when it was', async () => {
    const before = run(place, [config()], [held]);
    await before.until('web', { state: 'reloaded' });
    await before.stop();
    await run(place, [config()], [dropped]).until('web', gone);
    expect(readdirSync(place.directory)).toEqual([]);
  });

  it('of an agent whose record is gone is gone, and one that never was makes nothing', async () => {
    const before = run(place, [config()], [held]);
    await before.until('web', { state: 'reloaded' });
    await before.stop();
    await systemSinkFiles.remove(`${place.state}/sinks.json`);
    const running = run(place, [config()], [dropped]);
    await running.until('web', gone);
    expect(readdirSync(place.directory)).toEqual([]);
    running.sinks.configure([sinkConfig(`${place.directory}/never`, { name: 'never' })]);
    await running.until('never', gone);
    expect(readdirSync(place.directory)).toEqual([]);
  });

  it('is gone with the directory that it lay in', async () => {
    const running = run(place, [config()], [held]);
    await running.until('web', { state: 'reloaded' });
    rmSync(place.directory, { recursive: true });
    running.sinks.hold(holding(dropped));
    await running.until('web', gone);
    expect(existsSync(place.directory)).toBe(false);
  });

  it('leaves what somebody else put there, and no token beside it', async () => {
    const running = run(place, [config()], [held]);
    await running.until('web', { state: 'reloaded' });
    const directory = readlinkSync(place.path);
    writeFileSync(join(place.directory, directory, 'notes'), 'mine');
    running.sinks.hold(holding(dropped));
    await running.until('web', gone);
    expect(readdirSync(place.directory)).toEqual([directory]);
    expect(readdirSync(join(place.directory, directory))).toEqual(['notes']);
  });

  it('whose link was led elsewhere keeps that link, and loses its own files', async () => {
    const elsewhere = join(place.state, 'theirs');
    mkdirSync(elsewhere);
    const running = run(place, [config()], [held]);
    await running.until('web', { state: 'reloaded' });
    await systemSinkFiles.remove(place.path);
    symlinkSync(elsewhere, place.path);
    running.sinks.hold(holding(dropped));
    await running.until('web', gone);
    expect(readdirSync(place.directory)).toEqual(['web']);
    expect(readlinkSync(place.path)).toBe(elsewhere);
  });

  it('whose place a file took keeps that file, and loses its own', async () => {
    const running = run(place, [config()], [held]);
    await running.until('web', { state: 'reloaded' });
    await systemSinkFiles.remove(place.path);
    writeFileSync(place.path, 'theirs');
    running.sinks.hold(holding(dropped));
    await running.until('web', gone);
    expect(readdirSync(place.directory)).toEqual(['web']);
  });

  it('loses its link first: whoever opens the path meets all of it or nothing', async () => {
    const removed: string[] = [];
    const files = {
      ...systemSinkFiles,
      remove: async (path: string) => {
        if (path.startsWith(place.directory)) {
          removed.push(path);
          if (removed.length > 1) expect(() => lstatSync(place.path)).toThrow('ENOENT');
        }
        await systemSinkFiles.remove(path);
      },
    };
    const running = run(place, [config()], [held], { files });
    await running.until('web', { state: 'reloaded' });
    removed.length = 0;
    running.sinks.hold(holding(dropped));
    await running.until('web', gone);
    expect(removed[0]).toBe(place.path);
    expect(removed).toHaveLength(5);
  });

  it('that cannot be taken away now is tried again, and says why not', async () => {
    let isFailing = true;
    const files = {
      ...systemSinkFiles,
      removeDirectory: async (path: string) => {
        if (isFailing && path.startsWith(place.directory)) throw Object.assign(new Error('no'), { code: 'EACCES' });
        await systemSinkFiles.removeDirectory(path);
      },
    };
    const running = run(place, [config()], [held], { files });
    await running.until('web', { state: 'reloaded' });
    running.sinks.hold(holding(dropped));
    await running.until('web', { state: 'unwritten', problem: 'sink_unwritable', live: null });
    isFailing = false;
    await running.nextMinute();
    await running.until('web', gone);
    expect(readdirSync(place.directory)).toEqual([]);
  });

  it('has its program told once, after the files are gone; and after a start where it was not', async () => {
    const processes = new FakeProcesses();
    const seen: boolean[] = [];
    processes.outcome = () => {
      seen.push(contentAt(place.path) !== undefined);
      return { kind: 'exited', status: 0 };
    };
    const running = run(place, [reloading()], [held], { processes });
    await running.until('web', { state: 'reloaded' });
    running.sinks.hold(holding(dropped));
    await running.until('web', gone);
    expect(seen).toEqual([true, false]);
    await running.nextMinute();
    expect(processes.ran).toHaveLength(2);

    running.sinks.hold(holding(again));
    await running.until('web', { state: 'reloaded', step: 4 });
    processes.outcome = () => ({ kind: 'exited', status: 1 });
    running.sinks.hold(holding({ ...dropped, step: 5 }));
    await running.until('web', { state: 'unreloaded', version: null, problem: 'sink_reload_failed' });
    await running.stop();
    const after = new FakeProcesses();
    const restarted = run(place, [reloading()], [{ ...dropped, step: 5 }], { processes: after });
    await restarted.until('web', { ...gone, step: 5 });
    expect(after.ran).toHaveLength(1);
  });
});
