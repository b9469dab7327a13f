#!/usr/bin/env node
/**
 * Mutation tests of core: `npm run mutate [-- FOLDER…]`. Stryker changes the code of one folder at a time and runs the
 * tests of that folder alone, so that what a folder promises is shown beside it. Ends with a table of scores.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** npm runs scripts in the folder of the package. */
const root = process.cwd();
const folders = ['verify', 'seal', 'pins', 'rotation', 'keys', 'liveness', 'rungs'];
const wanted = process.argv.length > 2 ? process.argv.slice(2) : folders;

const unknown = wanted.filter((folder) => !folders.includes(folder));
if (unknown.length > 0) {
  console.error(`no such folder: ${unknown.join(', ')} (there are ${folders.join(', ')})`);
  process.exit(2);
}

const scores = wanted.map((folder) => {
  const report = join(root, 'reports', 'mutation', `${folder}.json`);
  rmSync(report, { force: true });
  console.log(`\n=== ${folder}`);
  const { status } = spawnSync(join(root, 'node_modules', '.bin', 'stryker'), ['run'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ROLLCALL_MUTATE: folder },
  });
  if (status !== 0) process.exitCode = 1;
  return { folder, ...countMutants(report) };
});
console.table(scores);

/** Killed, and timed out, of those that are valid and not ignored; `undefined` throughout when there is no report. */
function countMutants(report) {
  let files;
  try {
    ({ files } = JSON.parse(readFileSync(report, 'utf8')));
  } catch {
    return {};
  }
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const count = (...those) => statuses.filter((status) => those.includes(status)).length;
  const found = count('Killed', 'Timeout');
  const missed = count('Survived', 'NoCoverage');
  return { mutants: found + missed, found, missed, score: Number(((100 * found) / (found + missed)).toFixed(2)) };
}
