/** When the program of a sink is told, how often it is told again, and that it never holds anything up. */
import { chmodSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SinkConfig } from '@rollcall/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunOutcome } from './ports.ts';
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

let place: Place;
let processes: FakeProcesses;
const begun: Running[] = [];

beforeEach(() => {
  place = makePlace();
  processes = new FakeProcesses();
});
afterEach(async () => {
  for (const running of begun.splice(0)) await running.stop();
  place.clear();
});

const web = (changes: Partial<SinkConfig> = {}) =>
  sinkConfig(place.path, { reload: { by: 'command', command: ['/bin/web', 'reload'], timeoutMs: 1_000 }, ...changes });
const one = tokenAssignment({ versions: [1] });
const two = tokenAssignment({ versions: [1, 2], present: 2, step: 2 });

function run(configured: readonly SinkConfig[], held: readonly (typeof one)[]): Running {
  const running = runSinks(place, configured, held, { processes });
  begun.push(running);
  return running;
}

/** A program that ends when the test says so. */
function held(): { readonly promise: Promise<RunOutcome>; readonly end: (outcome: RunOutcome) => void } {
  let end: (outcome: RunOutcome) => void = () => undefined;
  const promise = new Promise<RunOutcome>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}

const succeeded: RunOutcome = { kind: 'exited', status: 0 };
const failed: RunOutcome = { kind: 'exited', status: 1 };

describe('the program of a sink', () => {
  it('is told once after the content has changed, and not otherwise', async () => {
    const running = run([web()], [one]);
    await running.until('web', { state: 'reloaded', version: 1 });
    await running.nextMinute();
    running.sinks.hold(holding({ ...one, step: 2 }));
    await running.nextMinute();
    running.sinks.configure([web({ mode: 0o600 })]);
    await running.nextMinute();
    expect(processes.ran).toEqual(['/bin/web reload']);
    running.sinks.hold(holding(two));
    await running.until('web', { state: 'reloaded', version: 2 });
    expect(processes.ran).toHaveLength(2);
  });

  it('is told after a sink came back with the same content, and after a changed one was mended', async () => {
    const running = run([web()], [one]);
    await running.until('web', { state: 'reloaded' });
    unlinkSync(place.path);
    await running.nextMinute();
    await running.until('web', { state: 'reloaded' });
    await expect.poll(() => processes.ran.length).toBe(2);
    chmodSync(join(place.path, 'present'), 0o600);
    await running.nextMinute();
    await running.until('web', { state: 'drifted' });
    running.sinks.hold(holding({ ...one, step: 2 }));
    await running.until('web', { state: 'reloaded' });
    expect(processes.ran).toHaveLength(2);
    writeFileSync(join(place.path, 'present'), 'another-token-altogether');
    await running.nextMinute();
    await running.until('web', { state: 'drifted' });
    running.sinks.hold(holding({ ...one, step: 3 }));
    await running.until('web', { state: 'reloaded' });
    await expect.poll(() => processes.ran.length).toBe(3);
  });

  it('that fails leaves the file in place, and is told again with back-off until it succeeds', async () => {
    processes.outcome = (count) => (count < 4 ? failed : succeeded);
    const running = run([web()], [one]);
    await running.until('web', { state: 'unreloaded', version: 1, problem: 'sink_reload_failed' });
    expect(contentAt(place.path)).toMatchObject({ present: tokenText(1) });
    expect(processes.ran).toHaveLength(1);
    for (let count = 2; count <= 4; count += 1) {
      await running.nextMinute();
      await expect.poll(() => processes.ran.length).toBe(count);
    }
    await running.until('web', { state: 'reloaded', version: 1 });
    expect(running.sinks.facts()[0]).not.toHaveProperty('problem');
    const said = running.log.filter(({ fields }) => fields?.['code'] === 'sink_reload_failed');
    expect(said).toHaveLength(1);
  });

  it('that hangs holds up no other sink, and not the next content', async () => {
    const hanging = held();
    processes.outcome = (count) => (count === 1 ? hanging.promise : succeeded);
    const other = sinkConfig(join(place.directory, 'other'), { name: 'other' });
    const running = run([web(), other], [one]);
    await running.until('other', { state: 'reloaded' });
    await running.until('web', { state: 'unreloaded', version: 1 });
    running.sinks.hold(holding(two));
    await running.until('web', { state: 'unreloaded', version: 2 });
    await running.until('other', { state: 'reloaded', version: 2 });
    expect(processes.ran).toHaveLength(1);
    // What it has read when it ends may be the former content, so it is told once more.
    hanging.end(succeeded);
    await running.until('web', { state: 'reloaded', version: 2 });
    expect(processes.ran).toHaveLength(2);
  });

  it('that was not told before the agent stopped is told by the next start', async () => {
    processes.outcome = () => failed;
    const first = run([web()], [one]);
    await first.until('web', { state: 'unreloaded', problem: 'sink_reload_failed' });
    await first.stop();
    processes.outcome = () => succeeded;
    const second = run([web()], [one]);
    await second.until('web', { state: 'reloaded', version: 1 });
    expect(processes.ran).toHaveLength(2);
    await second.stop();
    const third = run([web()], [one]);
    await third.until('web', { state: 'reloaded', version: 1 });
    expect(processes.ran).toHaveLength(2);
  });

  it('is not told of what somebody else put there', async () => {
    processes.outcome = () => failed;
    const running = run([web()], [one]);
    await running.until('web', { state: 'unreloaded' });
    writeFileSync(join(place.path, 'present'), 'another-token-altogether');
    await running.nextMinute();
    await running.until('web', { state: 'drifted' });
    const before = processes.ran.length;
    await running.nextMinute();
    await running.nextMinute();
    expect(processes.ran).toHaveLength(before);
  });

  it('that is no longer configured is due no more', async () => {
    processes.outcome = () => failed;
    const running = run([web()], [one]);
    await running.until('web', { state: 'unreloaded' });
    running.sinks.configure([sinkConfig(place.path)]);
    await running.until('web', { state: 'reloaded' });
    expect(running.sinks.facts()[0]).not.toHaveProperty('problem');
  });
});
