/** Whom a sink signals and whom never, and what becomes of programs that fail or hang. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { utf8 } from '@rollcall/core/bytes';
import type { SinkReload } from '@rollcall/wire';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemSinkFiles } from '../adapters/sink-files.ts';
import { systemProcesses } from '../adapters/system-processes.ts';
import type { Processes } from './ports.ts';
import { parsePid, reloadProgram } from './reload-program.ts';

let place: string;
let signalled: string[];

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'rollcall-reload-'));
  signalled = [];
});
afterEach(() => rmSync(place, { recursive: true }));

const me = process.getuid?.() ?? 0;
const somebody = me + 1;
/** 500 is a process of ours, 600 one of somebody else, 700 cannot be signalled; nobody else lives. */
const processes: Processes = {
  self: { pid: 400, uid: me },
  look: async (pid) => ({ 500: { uid: me }, 600: { uid: somebody }, 700: { uid: me }, 400: { uid: me } })[pid],
  signal: (pid, signal) => {
    if (pid === 700) throw Object.assign(new Error('no'), { code: 'EPERM' });
    signalled.push(`${signal} ${pid}`);
  },
  run: () => Promise.reject(new Error('no command is run here')),
};

async function signal(
  pidFile: string,
  options: { readonly ownerId?: number; readonly signal?: 'HUP' | 'USR1' } = {},
): Promise<string> {
  const reload: SinkReload = { by: 'signal', pidFile, signal: options.signal ?? 'HUP' };
  const at = { ownerId: options.ownerId, signal: new AbortController().signal };
  return outcome(reloadProgram({ files: systemSinkFiles, processes }, { name: 'web', path: '/etc/web', reload }, at));
}

function outcome(told: Promise<void>): Promise<string> {
  return told.then(
    () => 'told',
    (error: unknown) => (error as { readonly code?: string }).code ?? 'unknown',
  );
}

function pidFile(text: string, mode = 0o644): string {
  const path = join(place, 'web.pid');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('a pid file', () => {
  it.each([
    ['500\n', 'told'],
    ['500', 'told'],
    [' 500 \n', 'told'],
    ['500\n/var/lib/data\n1700000000\n', 'told'],
    ['600\n', 'sink_process_foreign'],
    ['400\n', 'sink_process_foreign'],
    ['700\n', 'sink_process_foreign'],
    ['501\n', 'sink_process_absent'],
    ['', 'sink_pid_file_unusable'],
    ['\n500\n', 'sink_pid_file_unusable'],
    ['0\n', 'sink_pid_file_unusable'],
    ['1\n', 'sink_pid_file_unusable'],
    ['-1\n', 'sink_pid_file_unusable'],
    ['-500\n', 'sink_pid_file_unusable'],
    ['+500\n', 'sink_pid_file_unusable'],
    ['0500\n', 'sink_pid_file_unusable'],
    ['0x1f4\n', 'sink_pid_file_unusable'],
    ['500.0\n', 'sink_pid_file_unusable'],
    ['5e2\n', 'sink_pid_file_unusable'],
    ['500 600\n', 'sink_pid_file_unusable'],
    ['4194305\n', 'sink_pid_file_unusable'],
    ['99999999999999999999\n', 'sink_pid_file_unusable'],
    ['five hundred\n', 'sink_pid_file_unusable'],
    [`500\n${'x'.repeat(2_000)}`, 'sink_pid_file_unusable'],
  ])('with %j: %s', async (text, expected) => {
    expect(await signal(pidFile(text))).toBe(expected);
    expect(signalled).toEqual(expected === 'told' ? ['HUP 500'] : []);
  });

  it('of a program that dropped its rights counts for the owner of the sink', async () => {
    expect(await signal(pidFile('600\n'), { ownerId: somebody + 1 })).toBe('sink_process_foreign');
    expect(signalled).toEqual([]);
    expect(await signal(pidFile('600\n'), { ownerId: somebody, signal: 'USR1' })).toBe('told');
    expect(signalled).toEqual(['USR1 600']);
  });

  it('that others may write is not believed', async () => {
    expect(await signal(pidFile('500\n', 0o646))).toBe('sink_pid_file_unusable');
    expect(await signal(pidFile('500\n', 0o664))).toBe('sink_pid_file_unusable');
    expect(signalled).toEqual([]);
    expect(await signal(pidFile('500\n', 0o644))).toBe('told');
  });

  it('that is not there, or no file, is refused', async () => {
    expect(await signal(join(place, 'none'))).toBe('sink_pid_file_unusable');
    expect(await signal(place)).toBe('sink_pid_file_unusable');
    symlinkSync(pidFile('500\n'), join(place, 'link'));
    expect(await signal(join(place, 'link'))).toBe('sink_pid_file_unusable');
    expect(signalled).toEqual([]);
  });

  it('gives a pid of a program, or none, whatever it holds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.integer().map(String)), (text) => {
        const pid = parsePid(utf8(text));
        expect(
          pid === undefined || (Number.isInteger(pid) && pid > 1 && text.trimStart().startsWith(String(pid))),
        ).toBe(true);
      }),
    );
    expect(parsePid(utf8('4194304'))).toBe(4_194_304);
  });
});

describe('processes of this machine', () => {
  it('are seen with their user while they live, and threads are none', async () => {
    expect(await systemProcesses.look(process.pid)).toEqual({ uid: me });
    expect(await systemProcesses.look(4_194_304)).toBeUndefined();
  });
});

describe('a real process', () => {
  const real = { files: systemSinkFiles, processes: systemProcesses };
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  /** It says by its exit code that it was signalled. */
  async function program(uid?: number): Promise<ChildProcess> {
    const script = "process.on('SIGHUP', () => process.exit(7)); setInterval(() => 0, 1000); console.log('up')";
    const options = { cwd: '/', ...(uid === undefined ? {} : { uid }) };
    const child = spawn(process.execPath, ['-e', script], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
    started.push(child);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    return child;
  }
  const told = (text: string) => {
    const reload: SinkReload = { by: 'signal', pidFile: pidFile(text), signal: 'HUP' };
    const at = { ownerId: undefined, signal: new AbortController().signal };
    return outcome(reloadProgram(real, { name: 'web', path: '/etc/web', reload }, at));
  };

  it('is signalled by its pid file, and once it has ended it is not', async () => {
    const child = await program();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    expect(await told(`${child.pid}\n`)).toBe('told');
    expect(await ended).toBe(7);
    expect(await told(`${child.pid}\n`)).toBe('sink_process_absent');
    // The pid of whoever runs this test is the agent's own here.
    expect(await told(`${process.pid}\n`)).toBe('sink_process_foreign');
  });

  // Skipped without root: nobody else can start a process of another user.
  it.skipIf(me !== 0)('of another user than the owner of the pid file is left alone', async () => {
    const child = await program(65_534);
    expect(await told(`${child.pid}\n`)).toBe('sink_process_foreign');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(child.exitCode).toBeNull();
    const path = pidFile(`${child.pid}\n`);
    chownSync(path, 65_534, 65_534);
    const reload: SinkReload = { by: 'signal', pidFile: path, signal: 'HUP' };
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const at = { ownerId: undefined, signal: new AbortController().signal };
    await reloadProgram(real, { name: 'web', path: '/etc/web', reload }, at);
    expect(await ended).toBe(7);
  });
});

async function command(script: string, options: { readonly timeoutMs?: number; readonly abortMs?: number } = {}) {
  const stopping = new AbortController();
  const reload: SinkReload = {
    by: 'command',
    command: ['/bin/sh', '-c', script, 'sh', place],
    timeoutMs: options.timeoutMs ?? 20_000,
  };
  if (options.abortMs !== undefined) setTimeout(() => stopping.abort(), options.abortMs);
  const ports = { files: systemSinkFiles, processes: systemProcesses };
  const at = { ownerId: undefined, signal: stopping.signal };
  return outcome(reloadProgram(ports, { name: 'web', path: '/etc/web', reload }, at));
}

describe('a command', () => {
  it('that ends well has told the program, with nothing of the agent in its environment', async () => {
    expect(await command('env > "$1/env"; pwd > "$1/pwd"')).toBe('told');
    const names = readFileSync(join(place, 'env'), 'utf8')
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names.filter((name) => !['PWD', 'OLDPWD', '_', 'SHLVL', ''].includes(name as string)).sort()).toEqual([
      'PATH',
      'ROLLCALL_SINK',
      'ROLLCALL_SINK_PATH',
    ]);
    expect(readFileSync(join(place, 'pwd'), 'utf8')).toBe('/\n');
  });

  it.each([
    ['that fails', 'exit 3', 'sink_reload_failed'],
    ['that is killed', 'kill -9 $$', 'sink_reload_failed'],
  ])('%s is reported', async (_what, script, code) => {
    expect(await command(script)).toBe(code);
  });

  it('that is not there is reported', async () => {
    const reload: SinkReload = { by: 'command', command: [join(place, 'none')], timeoutMs: 1_000 };
    const ports = { files: systemSinkFiles, processes: systemProcesses };
    const at = { ownerId: undefined, signal: new AbortController().signal };
    expect(await outcome(reloadProgram(ports, { name: 'w', path: '/w', reload }, at))).toBe('sink_reload_failed');
  });

  it('that hangs is ended in time, with all that it started', async () => {
    const began = performance.now();
    const script = 'trap "" TERM HUP; (sleep 600; :) & echo $! > "$1/child"; echo $$ > "$1/own"; wait; sleep 600';
    expect(await command(script, { timeoutMs: 700 })).toBe('sink_reload_timeout');
    expect(performance.now() - began).toBeLessThan(10_000);
    for (const name of ['own', 'child']) {
      const pid = Number(readFileSync(join(place, name), 'utf8'));
      await expect.poll(() => systemProcesses.look(pid), { timeout: 5_000 }).toBeUndefined();
    }
  });

  it('is ended when the agent stops', async () => {
    expect(await command('echo $$ > "$1/own"; sleep 600', { abortMs: 700 })).toBe('sink_reload_failed');
    expect(existsSync(join(place, 'own'))).toBe(true);
    const pid = Number(readFileSync(join(place, 'own'), 'utf8'));
    await expect.poll(() => systemProcesses.look(pid), { timeout: 5_000 }).toBeUndefined();
  });
});

describe('a unit', () => {
  it('is reloaded by systemctl, never restarted, and its name is no option', async () => {
    const ran: (readonly string[])[] = [];
    const recording: Processes = {
      ...processes,
      run: async (words) => {
        ran.push(words);
        return { kind: 'exited', status: 0 };
      },
    };
    const reload: SinkReload = { by: 'unit', unit: 'web.service', timeoutMs: 1_000 };
    const at = { ownerId: undefined, signal: new AbortController().signal };
    await reloadProgram({ files: systemSinkFiles, processes: recording }, { name: 'w', path: '/w', reload }, at);
    expect(ran).toEqual([['/usr/bin/systemctl', '--no-ask-password', '--no-pager', 'reload', '--', 'web.service']]);
  });
});
