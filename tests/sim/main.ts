/**
 * `npm run sim -- [--seeds N] [--first S] [--workers W] [--counts]`, or `--seed S` for one run with its story. Each worker is a
 * process of its own; one seed in ten runs twice, and the hashes of both must be equal.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Sometimes } from './engine/sometimes.ts';
import { setTraps } from './engine/traps.ts';
import { type Founded, found } from './found.ts';
import { missingFrom } from './must-occur.ts';
import { type RunResult, run } from './run.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    first: { type: 'string', default: '0' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '2' },
    counts: { type: 'boolean', default: false },
    worker: { type: 'boolean', default: false },
  },
});

/** What a run reports to whoever asked for it. */
type Report = RunResult & { readonly differs?: string };

const TWICE_EVERY = 10;
const SEEDS_OF_A_DAY = 500;

if (values.worker) await work();
else if (values.seed !== undefined) process.exitCode = await runOne(values.seed);
else process.exitCode = await runMany(Number(values.first), Number(values.seeds), Number(values.workers));

async function work(): Promise<void> {
  const founded = await found();
  setTraps();
  process.on('message', (seed: string) => {
    void report(seed, founded).then((result) => {
      if (process.connected) process.send?.({ ...result, sometimes: [...result.sometimes] });
    });
  });
  // Whoever asked is gone: there is nobody to report to.
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

async function report(seed: string, founded: Founded): Promise<Report> {
  const result = await run(seed, founded);
  if (Number(seed) % TWICE_EVERY !== 0) return result;
  const { hash } = await run(seed, founded);
  return hash === result.hash ? result : { ...result, differs: hash };
}

async function runOne(seed: string): Promise<number> {
  const founded = await found();
  setTraps();
  const result = await run(seed, founded);
  tell(result, true);
  console.log(`seed ${seed}: hash ${result.hash}, ${result.steps} steps, ${result.events} events`);
  return result.violation === undefined ? 0 : 1;
}

async function runMany(first: number, seeds: number, workers: number): Promise<number> {
  const startedAt = performance.now();
  const waiting = Array.from({ length: seeds }, (_, n) => String(first + n));
  const sometimes = new Sometimes();
  let [steps, events, failed, done] = [0, 0, 0, 0];
  const note = (result: Report) => {
    done += 1;
    // A night is long: how far it came stands in its log.
    if (seeds > SEEDS_OF_A_DAY && done % SEEDS_OF_A_DAY === 0) console.log(`${done} of ${seeds}, ${failed} failed`);
    sometimes.add(result.sometimes);
    steps += result.steps;
    events += result.events;
    if (result.violation === undefined && result.differs === undefined) return;
    failed += 1;
    tell(result, failed === 1);
  };
  await Promise.all(Array.from({ length: workers }, () => employ(waiting, note)));
  const counts = [...sometimes.counts].sort(([a], [b]) => (a < b ? -1 : 1));
  if (values.counts) for (const [name, count] of counts) console.log(`${String(count).padStart(8)} ${name}`);
  const missing = missingFrom(sometimes, seeds);
  for (const name of missing) console.log(`never occurred: ${name}`);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${seeds} seeds, ${steps} steps, ${events} events, ${seconds} s; ${failed} failed`);
  return failed === 0 && missing.length === 0 ? 0 : 1;
}

/** One worker, until no seed is left. */
function employ(waiting: string[], note: (result: Report) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker: ChildProcess = fork(new URL(import.meta.url), ['--worker'], { execArgv: process.execArgv });
    worker.on('message', (message: 'ready' | (Report & { sometimes: [string, number][] })) => {
      if (message !== 'ready') note({ ...message, sometimes: new Map(message.sometimes) });
      const seed = waiting.shift();
      if (seed === undefined) worker.disconnect();
      else worker.send(seed);
    });
    worker.on('error', reject);
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
  });
}

function tell({ seed, violation, differs, hash }: Report, withStory: boolean): void {
  if (differs !== undefined) console.log(`seed ${seed}: two runs differ: ${hash} and ${differs}`);
  if (violation === undefined) return;
  console.log(`seed ${seed}: ${violation.message}`);
  if (!withStory) return;
  console.log(`  knobs ${JSON.stringify(violation.knobs)}`);
  console.log(violation.story.join('\n'));
  console.log(`  again: npm run sim -- --seed ${seed}`);
}
