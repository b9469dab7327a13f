#!/usr/bin/env node
/**
 * What `npm test` and CI run, in order, up to the first step that fails: `npm test [-- VITEST ARGUMENTS]`. Ends with one
 * plain line of counts.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** npm runs scripts in the folder of the package. */
const root = process.cwd();
const report = join(root, '.bootstrap', 'vitest.json');

const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
const steps = [
  { title: 'formatting and lint', command: ['biome', 'check', '--error-on-warnings'] },
  { title: 'lint that knows types', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { title: 'types', command: ['tsc', '--noEmit', '-p', 'tsconfig.tests.json'] },
  { title: 'tests', command: ['vitest', 'run', ...reporters, ...process.argv.slice(2)] },
];

mkdirSync(join(root, '.bootstrap'), { recursive: true });
rmSync(report, { force: true });

for (const { title, command } of steps) {
  const [program, ...args] = command;
  console.log(`\n=== ${title} (${program})`);
  const bin = join(root, 'node_modules', '.bin', program);
  const { status, signal, error } = spawnSync(bin, args, { cwd: root, stdio: 'inherit' });
  if (status === 0) continue;
  console.error(`\n=== FAILED: ${title} (${error?.message ?? signal ?? `exit ${status}`})`);
  process.exitCode = 1;
  break;
}

const counts = readCounts();
if (counts !== undefined) console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
// A run of nothing proves nothing.
if (counts === undefined || counts.passed === 0) process.exitCode = 1;

function readCounts() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
  } catch {
    return undefined;
  }
}
