import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from './source-tree.ts';

const PROGRAMS = ['biome', 'oxlint', 'tsc', 'vitest'];

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-test-command-'));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  for (const program of PROGRAMS) fake(program, 'exit 0');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('npm test', () => {
  it('runs every step in order and ends with one plain line of counts', () => {
    fakeVitest({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 2, numTodoTests: 1 }, 0);
    const { status, lastLine } = run('some/path', '-t', 'name');
    expect({ status, lastLine }).toEqual({ status: 0, lastLine: '7 passed, 0 failed, 3 skipped' });
    expect(calls().map((call) => call.split(' ')[0])).toEqual(PROGRAMS);
    expect(calls().at(-1)).toMatch(/^vitest run .*some\/path -t name$/);
  });

  it('fails with the tests, and still counts them', () => {
    fakeVitest({ numPassedTests: 7, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 }, 1);
    expect(run()).toMatchObject({ status: 1, lastLine: '7 passed, 1 failed, 0 skipped' });
  });

  it('fails when vitest fails though no test did', () => {
    fakeVitest({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 }, 1);
    expect(run()).toMatchObject({ status: 1 });
  });

  it('fails when no test ran', () => {
    fakeVitest({ numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 }, 0);
    expect(run()).toMatchObject({ status: 1 });
    fake('vitest', 'exit 0');
    expect(run()).toMatchObject({ status: 1 });
  });

  it.each([
    ['biome', 'formatting and lint'],
    ['oxlint', 'lint that knows types'],
    ['tsc', 'types'],
  ])('stops at %s and says so', (program, title) => {
    fakeVitest({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 }, 0);
    fake(program, 'exit 3');
    const { status, output } = run();
    expect(status).toBe(1);
    expect(output).toContain(`=== FAILED: ${title} (exit 3)`);
    expect(output).not.toMatch(/\d passed/);
    expect(calls()).toHaveLength(PROGRAMS.indexOf(program) + 1);
  });

  it('does not count an earlier run', () => {
    fakeVitest({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 }, 0);
    run();
    fake('vitest', 'exit 1');
    expect(run().output).not.toMatch(/\d passed/);
  });

  it('is all that CI runs', () => {
    const script = readFileSync(join(root, '.ci/run'), 'utf8');
    expect(script).toMatch(/^set -euo pipefail$/m);
    expect(script).toMatch(/^npm test$/m);
  });
});

function run(...args: readonly string[]): { status: number | null; output: string; lastLine: string } {
  rmSync(join(folder, 'calls'), { force: true });
  const script = join(root, 'scripts/test.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: folder, encoding: 'utf8' });
  return { status, output: stdout + stderr, lastLine: stdout.trimEnd().split('\n').at(-1) ?? '' };
}

function calls(): readonly string[] {
  const path = join(folder, 'calls');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

function fake(program: string, body: string): void {
  const path = join(folder, 'node_modules/.bin', program);
  writeFileSync(path, `#!/bin/sh\necho "${program} $*" >> calls\n${body}\n`);
  chmodSync(path, 0o755);
}

function fakeVitest(report: Readonly<Record<string, number>>, status: number): void {
  fake('vitest', `echo '${JSON.stringify(report)}' > .bootstrap/vitest.json\nexit ${status}`);
}
