/** A sink on a file system that is really full, and a memory of sinks that is. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentAt, holding, makePlace, type Place, type Running, runSinks } from './running-sinks.fixture.ts';
import { sinkConfig, tokenAssignment, tokenText } from './sink.fixture.ts';

const mount = (path: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0755', 'tmpfs', path]).status === 0;
const unmount = (path: string) => spawnSync('umount', ['-l', path]);
const canMount = (() => {
  const probe = mkdtempSync(join(tmpdir(), 'rollcall-mount-'));
  const mounted = mount(probe);
  if (mounted) unmount(probe);
  rmSync(probe, { recursive: true });
  return mounted;
})();

let place: Place;
let running: Running | undefined;

beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  await running?.stop();
  for (const path of [place.directory, place.state]) unmount(path);
  place.clear();
});

/** Takes all room, so that there is none for another byte. */
function fill(directory: string): void {
  expect(() => {
    for (let count = 0; count < 100; count += 1) writeFileSync(join(directory, `filler-${count}`), Buffer.alloc(4_096));
  }).toThrow('ENOSPC');
}

function empty(directory: string): void {
  for (const name of readdirSync(directory)) if (name.startsWith('filler-')) rmSync(join(directory, name));
}

const one = tokenAssignment({ versions: [1] });
const two = tokenAssignment({ versions: [1, 2], present: 2, step: 2 });

// Skipped where this user may not mount a file system: there is no other way to a disk that is really full.
describe.skipIf(!canMount)('a full disk', () => {
  it('under a sink leaves what lies there, takes nothing away for good, and is got over', async () => {
    expect(mount(place.directory)).toBe(true);
    const sinks = runSinks(place, [sinkConfig(place.path)], [one]);
    running = sinks;
    await sinks.until('web', { state: 'reloaded', version: 1 });
    fill(place.directory);
    sinks.sinks.hold(holding(two));
    await sinks.until('web', { state: 'unwritten', version: 1, problem: 'sink_disk_full' });
    expect(contentAt(place.path)).toMatchObject({ present: tokenText(1), version: '1' });
    expect(readdirSync(place.directory).filter((name) => name.startsWith('.web.'))).toHaveLength(1);
    empty(place.directory);
    await sinks.nextMinute();
    await sinks.until('web', { state: 'reloaded', version: 2 });
  });

  it('under the state directory leaves what lies there, and is got over', async () => {
    expect(mount(place.state)).toBe(true);
    mkdirSync(join(place.state, 'x'));
    const sinks = runSinks(place, [sinkConfig(place.path)], [one]);
    running = sinks;
    await sinks.until('web', { state: 'reloaded', version: 1 });
    fill(place.state);
    sinks.sinks.hold(holding(two));
    await sinks.until('web', { state: 'unwritten', version: 1, problem: 'sink_record_unusable' });
    expect(contentAt(place.path)).toMatchObject({ present: tokenText(1) });
    empty(place.state);
    await sinks.nextMinute();
    await sinks.until('web', { state: 'reloaded', version: 2 });
  });
});
