import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from './source-tree.ts';

/** Stands in for npm on the PATH: notes what it was asked, takes a moment, and leaves what npm would. */
const FAKE_NPM = `#!/bin/sh
echo "$@" >> "$NPM_LOG"
if [ -n "$NPM_FAILS" ]; then echo "npm error: no network" >&2; exit 7; fi
sleep "\${NPM_SLEEPS:-0.05}"
case "$1" in
  ci) rm -rf node_modules; mkdir node_modules ;;
  run) mkdir -p packages/a/dist ;;
esac
echo "$1 ended" >> "$NPM_LOG"
`;

const CI = 'ci --include=dev --no-audit --no-fund';
const BUILD = 'run --silent build';

let folder = '';
let log = '';
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-bootstrap-'));
  log = join(folder, 'npm.log');
  write('package.json', '{"engines":{"node":">=20.0"}}');
  write('package-lock.json', '{}');
  write('tsconfig.json', '{"references":[{"path":"packages/a"}]}');
  write('packages/a/src/a.ts', 'export {};');
  write('bin/npm', FAKE_NPM);
  chmodSync(join(folder, 'bin/npm'), 0o755);
});

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('bootstrap', () => {
  it('installs and builds once, then does nothing and says nothing', async () => {
    const first = await run();
    expect(first).toMatchObject({ code: 0 });
    expect(first.output).toMatch(/installing.*75 s[\s\S]*building/);
    expect(first.output.split('\n').length).toBeLessThan(8);
    expect(calls()).toEqual([CI, BUILD]);
    expect(await run({ NPM_FAILS: '1' })).toEqual({ code: 0, output: '' });
    expect(calls()).toEqual([CI, BUILD]);
    expect(existsSync(join(folder, '.bootstrap/lock'))).toBe(false);
  });

  it.each<[string, () => void, readonly string[]]>([
    ['a source', () => write('packages/a/src/a.ts', 'export const a = 1;'), [BUILD]],
    ['a new source', () => write('packages/a/src/b.ts', ''), [BUILD]],
    ['a compiler option', () => write('tsconfig.base.json', '{}'), [BUILD]],
    ['a test', () => write('packages/a/src/a.test.ts', ''), []],
    ['a document', () => write('docs/a.md', ''), []],
    ['the same text again', () => write('packages/a/src/a.ts', 'export {};'), []],
    ['the lockfile', () => write('package-lock.json', '{"a":1}'), [CI, BUILD]],
    ['node_modules, by removal', () => rmSync(join(folder, 'node_modules'), { recursive: true }), [CI, BUILD]],
    ['dist, by removal', () => rmSync(join(folder, 'packages/a/dist'), { recursive: true }), [BUILD]],
  ])('notices a change of %s', async (_, change, again) => {
    await run();
    change();
    await run();
    expect(calls()).toEqual([CI, BUILD, ...again]);
  });

  it('does the work once when several run at once, and none ends before it is done', async () => {
    const ends = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { code } = await run({ NPM_SLEEPS: '0.6' });
        return { code, ready: existsSync(join(folder, 'packages/a/dist')) };
      }),
    );
    expect(ends).toEqual(Array.from({ length: 4 }, () => ({ code: 0, ready: true })));
    expect(calls()).toEqual([CI, BUILD]);
  });

  it('waits for one that lives', async () => {
    await run();
    write('package-lock.json', '{"a":1}');
    holdLock(process.pid, 0);
    const waiting = run();
    await sleep(1_500);
    expect(calls()).toEqual([CI, BUILD]);
    rmSync(join(folder, '.bootstrap/lock'), { recursive: true });
    expect(await waiting).toMatchObject({ code: 0, output: expect.stringContaining('waiting for another run') });
    expect(calls()).toEqual([CI, BUILD, CI, BUILD]);
  });

  it.each<[string, () => void]>([
    ['whose owner is gone', () => holdLock(deadPid(), 30_000)],
    ['that was never signed', () => holdLock(undefined, 30_000)],
    ['whose pid is another process by now', () => holdLock(process.pid, 120_000)],
    ['that holds nonsense', () => holdLock(-1, 30_000)],
  ])('takes over a lock %s, and only one of several does', async (_, leave) => {
    leave();
    const ends = await Promise.all([run(), run(), run()]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(calls()).toEqual([CI, BUILD]);
  });

  it('does not take over a lock that was touched a moment ago, though its pid is not seen here', async () => {
    holdLock(deadPid(), 0);
    const waiting = run();
    await sleep(1_500);
    expect(calls()).toEqual([]);
    expect(await waiting).toMatchObject({ code: 0 });
  });

  it('recovers when it was killed in the middle', async () => {
    const killed = start({ NPM_SLEEPS: '1' });
    await until(() => calls().length === 1);
    killed.kill('SIGKILL');
    expect(existsSync(join(folder, '.bootstrap/lock'))).toBe(true);
    expect(await run()).toMatchObject({ code: 0 });
    expect(calls()).toEqual([CI, CI, BUILD]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('gives the lock back on %s', async (signal) => {
    const stopped = start({ NPM_SLEEPS: '1' });
    await until(() => calls().length === 1);
    const ended = new Promise<unknown>((done) => stopped.on('exit', done));
    stopped.kill(signal);
    expect(await ended).toBe(1);
    expect(existsSync(join(folder, '.bootstrap/lock'))).toBe(false);
  });

  it('says what failed, and tries again the next time', async () => {
    const failed = await run({ NPM_FAILS: '1' });
    expect(failed).toMatchObject({ code: 1, output: expect.stringMatching(/npm ci .*failed \(7\)[\s\S]*no network/) });
    expect(existsSync(join(folder, '.bootstrap/lock'))).toBe(false);
    expect(await run()).toMatchObject({ code: 0 });
    expect(calls()).toEqual([CI, CI, BUILD]);
  });

  it('refuses a Node that is too old before it does anything', async () => {
    write('package.json', '{"engines":{"node":">=99.1"}}');
    expect(await run()).toMatchObject({ code: 1, output: expect.stringContaining('needs Node >=99.1') });
    expect(calls()).toEqual([]);
  });
});

function start(environment: Readonly<Record<string, string>>): ChildProcess {
  const path = `${join(folder, 'bin')}:${process.env['PATH']}`;
  const child = spawn(process.execPath, [join(root, 'scripts/bootstrap.mjs'), folder], {
    env: { ...process.env, PATH: path, NPM_LOG: log, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
}

async function run(
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  const child = start(environment);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  return { code, output };
}

/** What npm was asked, in order. */
function calls(): readonly string[] {
  if (!existsSync(log)) return [];
  return readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .filter((line) => !line.endsWith(' ended'));
}

function holdLock(pid: number | undefined, ageMs: number): void {
  const lock = join(folder, '.bootstrap/lock');
  mkdirSync(lock, { recursive: true });
  if (pid !== undefined) writeFileSync(join(lock, 'pid'), `${pid} token`);
  const at = new Date(Date.now() - ageMs);
  utimesSync(lock, at, at);
}

function deadPid(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

function write(path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 200) throw new Error('it did not come about');
    await sleep(50);
  }
}
