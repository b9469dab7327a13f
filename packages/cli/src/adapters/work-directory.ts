/** A private directory for what a demo makes: temporary, or one that was named. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { usageError } from '../usage-error.ts';

export interface WorkDirectory {
  readonly path: string;
  readonly isTemporary: boolean;
  /** Makes a directory in it, 0700. */
  make(name: string): void;
  /** Writes a file in it, 0600. */
  write(name: string, content: string): void;
  read(name: string): string;
  /** Puts a symbolic link in the place of a file in it, at once. */
  link(target: string, name: string): void;
  /** Copies the plain files of one directory in it into a new one: a state directory without its sockets. */
  copyFiles(from: string, to: string): void;
  remove(): void;
}

/** Throws `usage` when `named` is there and has something in it. */
export function makeWorkDirectory(named: string | undefined): WorkDirectory {
  const path = named === undefined ? mkdtempSync(join(tmpdir(), 'rollcall-demo-')) : makeNamed(resolve(named));
  return {
    path,
    isTemporary: named === undefined,
    make: (name) => {
      mkdirSync(join(path, name), { recursive: true, mode: 0o700 });
    },
    write: (name, content) => writeFileSync(join(path, name), content, { mode: 0o600 }),
    read: (name) => readFileSync(join(path, name), 'utf8'),
    link: (target, name) => {
      symlinkSync(target, join(path, `${name}.new`));
      renameSync(join(path, `${name}.new`), join(path, name));
    },
    copyFiles: (from, to) => {
      mkdirSync(join(path, to), { mode: 0o700 });
      const files = readdirSync(join(path, from), { withFileTypes: true }).filter((entry) => entry.isFile());
      for (const { name } of files) copyFileSync(join(path, from, name), join(path, to, name));
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function makeNamed(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (readdirSync(path).length > 0)
    throw usageError(`${path} is not empty`, 'Name a new directory, or leave --dir away.');
  return path;
}
