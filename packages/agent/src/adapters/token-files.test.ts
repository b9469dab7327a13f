import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRollcallError } from '@rollcall/core/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from './host-listener.fixture.ts';
import { type FileVerifier, openTokenFiles, type TokenFiles } from './token-files.ts';

const value = (fill: string) => fill.repeat(30);
let directory: string;
let files: TokenFiles;
let verifier: FileVerifier;
let logged: { readonly message: string; readonly code?: unknown; readonly file?: unknown }[];

const log = {
  info: (message: string) => void logged.push({ message }),
  error: (message: string, fields: object = {}) => void logged.push({ message, ...fields }),
};
const at = (name: string) => join(directory, name);
const write = (name: string, content: string | Uint8Array) => writeFile(at(name), content, { mode: 0o600 });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-tokens-'));
  logged = [];
  await write('current', `${value('c')}\n`);
  files = { current: { version: 4, path: at('current') } };
  verifier = await openTokenFiles(() => files, log);
});

afterEach(async () => {
  verifier.close();
  await rm(directory, { recursive: true });
});

function isTaken(token: string): boolean {
  try {
    verifier.verify(token);
    return true;
  } catch (error) {
    if (isRollcallError(error, 'unauthenticated')) return false;
    throw error;
  }
}

describe('a good reload', () => {
  it('takes what the files hold now, and which there are now', async () => {
    expect(verifier.verify(value('c'))).toEqual({ version: 4, role: 'current' });
    await write('next', ` ${value('n')} \r\n`);
    files = { ...files, next: { version: 5, path: at('next') } };
    expect(isTaken(value('n'))).toBe(false);
    expect(await verifier.reload()).toBeUndefined();
    expect(verifier.verify(value('n'))).toEqual({ version: 5, role: 'next' });
    files = { current: { version: 5, path: at('next') }, retiring: { version: 4, path: at('current') } };
    await verifier.reload();
    expect(verifier.verify(value('c'))).toEqual({ version: 4, role: 'retiring' });
    expect(verifier.hits()).toEqual({ current: 0, next: 0, retiring: 1 });
  });

  it('follows a SIGHUP, and a link: so such files are mounted', async () => {
    await write('mounted', value('m'));
    await unlink(at('current'));
    await symlink(at('mounted'), at('current'));
    process.kill(process.pid, 'SIGHUP');
    await until(() => isTaken(value('m')));
    expect(isTaken(value('c'))).toBe(false);
  });

  it('is followed no more once it is closed', async () => {
    // Without anybody who listens, a SIGHUP would end this process.
    process.on('SIGHUP', nothing);
    verifier.close();
    await write('current', value('m'));
    process.kill(process.pid, 'SIGHUP');
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.removeListener('SIGHUP', nothing);
    expect([isTaken(value('m')), isTaken(value('c'))]).toEqual([false, true]);
  });
});

/** What stands in the place of the file. */
const instead = (make: (path: string) => unknown) => async (path: string) => {
  await unlink(path);
  await make(path);
};

const spoil: readonly (readonly [name: string, code: string, act: (path: string) => Promise<unknown>])[] = [
  ['has vanished', 'file_unreadable', (path) => unlink(path)],
  ['became a directory', 'file_unreadable', instead((path) => mkdir(path, { mode: 0o600 }))],
  ['became a pipe', 'file_unreadable', instead((path) => execFileSync('mkfifo', ['-m', '600', path]))],
  ['is a link to nowhere', 'file_unreadable', instead((path) => symlink('/nowhere', path))],
  ['is empty', 'malformed_file', (path) => writeFile(path, '')],
  ['is blank', 'malformed_file', (path) => writeFile(path, ' \r\n\t\n')],
  ['has two lines', 'malformed_file', (path) => writeFile(path, `${value('a')}\n${value('b')}\n`)],
  ['has a space in it', 'malformed_file', (path) => writeFile(path, `${value('a')} b`)],
  ['is a megabyte', 'too_large', (path) => writeFile(path, 'a'.repeat(1_048_576))],
  [
    'is binary',
    'malformed_file',
    (path) =>
      writeFile(
        path,
        Uint8Array.from({ length: 64 }, (_, byte) => byte),
      ),
  ],
  ['has a byte-order mark', 'byte_order_mark', (path) => writeFile(path, `\u{feff}${value('a')}`)],
  ['is too short to be a secret', 'weak_secret', (path) => writeFile(path, 'short')],
  ['is longer than a token', 'malformed_token', (path) => writeFile(path, 'a'.repeat(513))],
  ['may be read by the group', 'token_file_loose_mode', (path) => chmod(path, 0o640)],
  ['may be read by others', 'token_file_loose_mode', (path) => chmod(path, 0o604)],
  ['may be run', 'token_file_loose_mode', (path) => chmod(path, 0o700)],
];

describe.each(spoil)('a file that %s', (_, code, act) => {
  it(`keeps what is in force, and says so: ${code}`, async () => {
    await act(at('current'));
    expect(await verifier.reload()).toBe(code);
    expect(logged).toEqual([expect.objectContaining({ code })]);
    expect(isTaken(value('c'))).toBe(true);
    expect(isTaken(value('a'))).toBe(false);
    expect(JSON.stringify(logged)).not.toContain(value('a'));
    // And once it is mended it is taken.
    await rm(at('current'), { recursive: true, force: true });
    await write('current', value('m'));
    expect(await verifier.reload()).toBeUndefined();
    expect([isTaken(value('m')), isTaken(value('c'))]).toEqual([true, false]);
  });

  it('keeps everything, also where only the other one is bad, and is none to start with', async () => {
    await write('next', value('n'));
    files = { ...files, next: { version: 5, path: at('next') } };
    await verifier.reload();
    await write('current', value('x'));
    await act(at('next'));
    expect(await verifier.reload()).toBe(code);
    expect([isTaken(value('c')), isTaken(value('n')), isTaken(value('x'))]).toEqual([true, true, false]);
    await expect(openTokenFiles(() => files, log)).rejects.toMatchObject({ code });
  });
});

// Skipped as root, whom no mode stops.
it.skipIf(process.getuid?.() === 0)('an unreadable file keeps what is in force', async () => {
  await chmod(at('current'), 0o000);
  expect(await verifier.reload()).toBe('file_unreadable');
  expect(isTaken(value('c'))).toBe(true);
});

it('three versions are a mistake of the program, and keep what is in force', async () => {
  for (const name of ['next', 'retiring']) await write(name, value(name.slice(0, 1)));
  files = { ...files, next: { version: 5, path: at('next') }, retiring: { version: 3, path: at('retiring') } };
  expect(await verifier.reload()).toBe('internal');
  expect(isTaken(value('c'))).toBe(true);
});

function nothing(): void {}
