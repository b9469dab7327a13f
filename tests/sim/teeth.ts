/**
 * `node tests/sim/dist/teeth.js [--bug NAME] [--seeds N]`: puts each deliberate bug into the product as it is loaded, and runs seeds
 * until an invariant catches it. A bug counts only where it was seen to act; without any, the same seeds pass.
 */
import { fork } from 'node:child_process';
import { register } from 'node:module';
import { parseArgs } from 'node:util';
import type { Bug } from './bugs/bug.ts';
import { bugs } from './bugs/table.ts';

const { values } = parseArgs({
  options: {
    bug: { type: 'string' },
    seeds: { type: 'string', default: '200' },
    workers: { type: 'string', default: '2' },
    worker: { type: 'boolean', default: false },
  },
});

interface Bite {
  readonly name: string;
  /** How often it acted, in all runs together. */
  readonly acted: number;
  readonly caught?: { readonly rule: string; readonly seed: string; readonly message: string };
}

const wanted = bugs.filter(({ name }) => values.bug === undefined || values.bug === name);
if (values.worker) await bite(wanted[0] as Bug, Number(values.seeds));
else await biteAll(wanted);

async function bite(bug: Bug, seeds: number): Promise<void> {
  let acted = 0;
  Object.assign(globalThis, {
    noteBug: () => {
      acted += 1;
      return true;
    },
  });
  register('./bugs/loader.js', { parentURL: import.meta.url, data: bug });
  const { found } = await import('./found.ts');
  const { run } = await import('./run.ts');
  const { setTraps } = await import('./engine/traps.ts');
  const founded = await found();
  setTraps();
  let caught: Bite['caught'];
  for (let seed = 0; seed < seeds && caught === undefined; seed += 1) {
    const { violation } = await run(String(seed), founded);
    if (violation !== undefined) caught = { rule: violation.rule, seed: String(seed), message: violation.message };
  }
  process.send?.({ name: bug.name, acted, ...(caught === undefined ? {} : { caught }) } satisfies Bite);
  process.disconnect();
}

async function biteAll(all: readonly Bug[]): Promise<void> {
  const waiting = [...all];
  let missed = 0;
  const work = async () => {
    for (let bug = waiting.shift(); bug !== undefined; bug = waiting.shift()) {
      const bitten = await inAProcess(bug);
      if (bitten?.caught === undefined || bitten.acted === 0) missed += 1;
      console.log(rowOf(bug, bitten));
    }
  };
  console.log('| bug | what it does | acted | meant to break | caught by | at seed |\n|---|---|---|---|---|---|');
  await Promise.all(Array.from({ length: Number(values.workers) }, work));
  console.log(`\n${all.length} bugs, ${missed} missed`);
  process.exitCode = missed === 0 ? 0 : 1;
}

function inAProcess({ name }: Bug): Promise<Bite | undefined> {
  return new Promise((resolve) => {
    const child = fork(new URL(import.meta.url), ['--worker', '--bug', name, '--seeds', values.seeds]);
    let bitten: Bite | undefined;
    child.on('message', (message: Bite) => {
      bitten = message;
    });
    child.on('exit', () => resolve(bitten));
  });
}

function rowOf({ name, says, breaks }: Bug, bitten: Bite | undefined): string {
  const caught = bitten?.caught;
  return `| ${name} | ${says} | ${bitten?.acted ?? 'broke'} | ${breaks} | ${caught?.rule ?? '**missed**'} | ${caught?.seed ?? ''} |`;
}
