/** The repository's own files, as the rules see them: what is committed, or would be. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root: string = join(import.meta.dirname, '..', '..');

export interface SourceFile {
  /** From the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Every file that git holds or does not ignore, binary ones excepted. */
export function repositoryFiles(): readonly SourceFile[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const paths = [...new Set(listed.toString('utf8').split('\0'))].filter((path) => path !== '').sort();
  return paths
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'));
}

export interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly license?: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly workspaces?: readonly string[];
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
}

/** `{ '': root's, 'packages/core': …, … }` */
export function manifests(): ReadonlyMap<string, Manifest> {
  const top = readManifest('');
  return new Map([['', top], ...(top.workspaces ?? []).map((folder) => [folder, readManifest(folder)] as const)]);
}

/** TypeScript and JavaScript that people write here. */
export function isCode(path: string): boolean {
  return /\.(?:ts|tsx|mts|mjs|js)$/.test(path) && !path.endsWith('.d.ts');
}

/** What never leaves the repository: tests, and what only they import. */
export function isTest(path: string): boolean {
  return path.startsWith('tests/') || /\.(?:test|fixture)\.tsx?$/.test(path);
}

/** What a package ships. */
export function isShipped(path: string): boolean {
  return /^packages\/[^/]+\/src\//.test(path) && isCode(path) && !isTest(path);
}
