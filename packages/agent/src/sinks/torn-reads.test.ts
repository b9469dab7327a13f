/** A process that reads a sink while it is turned as fast as it can be: it never meets tokens that do not belong together. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { holding, makePlace, type Place, type Running, runSinks } from './running-sinks.fixture.ts';
import { sinkConfig, tokenAssignment, tokenText } from './sink.fixture.ts';

let place: Place;
let running: Running | undefined;

beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  await running?.stop();
  place.clear();
});

/**
 * What the guide tells a reader to do: open the directory once, read relative to it, and begin again when a file is
 * missing. It goes on until it has read often enough and has met thirty contents. `naive`: opens each file by the whole path,
 * and goes on until that goes wrong.
 */
const reader = `
const { openSync, closeSync, readFileSync, constants } = require('node:fs');
const [path, wanted, way] = process.argv.slice(1);
const counts = { whole: 0, again: 0, torn: 0, versions: 0 };
let last = '';
while (way === 'naive' ? counts.torn + counts.again === 0 : counts.whole < Number(wanted) || counts.versions < 30) {
  let directory = -1;
  try {
    directory = way === 'naive' ? -1 : openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
    const base = way === 'naive' ? path : '/proc/self/fd/' + directory;
    const [present, accept, current, version] = ['present', 'accept', 'current', 'version'].map((name) => readFileSync(base + '/' + name, 'utf8'));
    const isWhole = accept.split('\\n')[0] === present && current === present && accept.endsWith('\\n') && present === ('token-of-version-' + version).padEnd(23, '-');
    counts[isWhole ? 'whole' : 'torn'] += 1;
    if (version !== last) counts.versions += 1;
    last = version;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    counts.again += 1;
  } finally {
    if (directory >= 0) closeSync(directory);
  }
}
console.log(JSON.stringify(counts));
`;

interface Counts {
  readonly whole: number;
  readonly again: number;
  readonly torn: number;
  readonly versions: number;
}

async function readWhileTurning(reads: number, way: string): Promise<Counts> {
  const sinks = runSinks(place, [sinkConfig(place.path)], [tokenAssignment({ versions: [1] })]);
  running = sinks;
  await sinks.until('web', { version: 1 });
  const child = spawn(process.execPath, ['-e', reader, place.path, String(reads), way], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  let said: Counts | undefined;
  lines.once('line', (line) => {
    said = JSON.parse(line) as Counts;
  });
  for (let version = 2; said === undefined && child.exitCode === null; version += 1) {
    const assignment = tokenAssignment({ versions: [version, version - 1], step: version });
    sinks.sinks.hold(holding(assignment));
    await sinks.until('web', { version });
  }
  if (said === undefined) throw new Error(`the reader ended with ${child.exitCode}`);
  return said;
}

it('ten thousand times, by the way of the guide', async () => {
  expect(tokenText(7)).toHaveLength(23);
  const counts = await readWhileTurning(10_000, 'opened');
  expect(counts.torn).toBe(0);
  expect(counts.whole).toBeGreaterThanOrEqual(10_000);
  // It was turned under the reader's hands.
  expect(counts.versions).toBeGreaterThanOrEqual(30);
}, 120_000);

it('by the shell lines of the guide', async () => {
  const sinks = runSinks(place, [sinkConfig(place.path)], [tokenAssignment({ versions: [1] })]);
  running = sinks;
  await sinks.until('web', { version: 1 });
  const lines = 'cd / && cd -P "$1" && present=$(cat present) version=$(cat version) && echo "$version $present"';
  const script = `count=0; while [ "$count" -lt 300 ]; do { ${lines}; } 2>/dev/null && count=$((count + 1)); done`;
  const child = spawn('/bin/sh', ['-c', script, 'sh', place.path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  for (let version = 2; child.exitCode === null; version += 1) {
    sinks.sinks.hold(holding(tokenAssignment({ versions: [version, version - 1], step: version })));
    await sinks.until('web', { version });
  }
  expect(await ended).toBe(0);
  const reads = text.trimEnd().split('\n');
  expect(reads).toHaveLength(300);
  expect(new Set(reads).size).toBeGreaterThan(5);
  for (const line of reads) expect(line).toBe(`${line.split(' ')[0]} ${tokenText(Number(line.split(' ')[0]))}`);
}, 120_000);

it('is told apart from a reader that opens each file by its whole path', async () => {
  const counts = await readWhileTurning(10_000, 'naive');
  expect(counts.torn + counts.again).toBeGreaterThan(0);
}, 120_000);
