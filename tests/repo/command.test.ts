/** `npx rollcall` in a fresh clone: the link that npm makes at install time, before anything is built, must lead somewhere. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { manifests, root } from './source-tree.ts';

interface WithCommands {
  readonly bin?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
}

const commands = [...manifests()].flatMap(([folder, manifest]) =>
  Object.values((manifest as WithCommands).bin ?? {}).map((file) => ({
    folder,
    file,
    manifest: manifest as WithCommands,
  })),
);

describe('every command of a package', () => {
  it('is there to be looked at', () => {
    expect(commands).not.toEqual([]);
  });

  it.each(commands)(
    '$folder: $file is committed, executable, shipped, and names its interpreter',
    ({ folder, file, manifest }) => {
      const path = join(folder, file);
      const [mode] = execFileSync('git', ['ls-files', '--stage', path], { cwd: root, encoding: 'utf8' }).split(' ');
      expect(mode).toBe('100755');
      expect(readFileSync(join(root, path), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
      expect(manifest.files).toContain(file.split('/')[0]);
    },
  );

  it('is named in the lockfile as in the manifest, or npm ci would link another file', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, WithCommands>>;
    };
    for (const { folder, manifest } of commands) expect(lock.packages[folder]?.bin).toEqual(manifest.bin);
  });
});

describe('the command of a clone', () => {
  let clone = '';
  afterEach(() => rmSync(clone, { recursive: true, force: true }));

  /** The package as it lies in a fresh clone, with the link and the modes that npm would make. */
  function freshClone(): string {
    clone = mkdtempSync(join(tmpdir(), 'rollcall-bin-'));
    const folder = join(clone, 'packages/cli');
    mkdirSync(folder, { recursive: true });
    cpSync(join(root, 'packages/cli/bin'), join(folder, 'bin'), { recursive: true });
    cpSync(join(root, 'packages/cli/package.json'), join(folder, 'package.json'));
    chmodSync(join(folder, 'bin/rollcall.js'), 0o755);
    return folder;
  }

  const run = (folder: string, ...args: readonly string[]) =>
    spawnSync(join(folder, 'bin/rollcall.js'), args, { encoding: 'utf8' });

  it('says what is to be done before anything is built', () => {
    const { status, stderr, stdout } = run(freshClone(), '--version');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('npm run build');
  });

  it('runs what was built, with its arguments and its exit code', () => {
    const folder = freshClone();
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist/main.js'), 'console.log(process.argv.slice(2).join()); process.exitCode = 3;');
    expect(run(folder, 'host', 'list')).toMatchObject({ status: 3, stdout: 'host,list\n' });
  });

  it('needs nothing but Node before it loads what was built', () => {
    const folder = freshClone();
    expect(existsSync(join(folder, 'node_modules'))).toBe(false);
    expect(readFileSync(join(folder, 'bin/rollcall.js'), 'utf8').match(/from '(?!node:)/g)).toBeNull();
  });
});
