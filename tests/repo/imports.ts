/** Who may import what (design 2): the manifest is the unit of isolation, so it must tell the whole truth. */
import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { isShipped, isTest, type Manifest, type SourceFile } from './source-tree.ts';
import { importedSpecifiers, parseModule } from './syntax.ts';

/** What core may name beside its own files: pure functions and types (design 2). */
const CORE_BUILTINS: ReadonlySet<string> = new Set(['node:assert/strict', 'node:buffer', 'node:crypto', 'node:util']);

/** `path imports specifier: why not`, for everything that this file may not import. */
export function findBadImports(file: SourceFile, manifests: ReadonlyMap<string, Manifest>): readonly string[] {
  return importedSpecifiers(parseModule(file.path, file.text).program).flatMap((specifier) => {
    const why = judge(file.path, specifier, manifests);
    return why === undefined ? [] : [`${file.path} imports ${specifier}: ${why}`];
  });
}

/** What the package in `folder` declares and no shipped file of it imports: whoever installs it would pay for nothing. */
export function findUnusedDependencies(
  folder: string,
  manifest: Manifest,
  files: readonly SourceFile[],
): readonly string[] {
  const own = files.filter(({ path }) => path.startsWith(`${folder}/`) && isShipped(path));
  const used = new Set(
    own.flatMap(({ path, text }) => importedSpecifiers(parseModule(path, text).program)).map(packageName),
  );
  return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).filter((name) => !used.has(name));
}

function judge(path: string, specifier: string, manifests: ReadonlyMap<string, Manifest>): string | undefined {
  // What a computed import loads, nobody can tell: only a composition root may hand the means to others.
  if (specifier === '<computed>') return /\/main\.ts$/.test(path) ? undefined : 'computed';
  if (specifier.startsWith('.')) return judgeRelative(path, specifier);
  if (isShipped(path) && path.startsWith('packages/core/') && !CORE_BUILTINS.has(specifier))
    return 'core imports nothing';
  if (specifier.startsWith('node:')) return undefined;
  if (isBuiltin(specifier)) return 'a builtin is named with node:';
  const name = packageName(specifier);
  if (!declaredFor(path, manifests).has(name)) return 'not declared';
  return judgeSubpath(name, specifier, manifests);
}

/** A relative import stays inside its package, or inside `tests`, `bench` or `scripts`, and says which file it means. */
function judgeRelative(path: string, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(path), specifier);
  const isOwn =
    target.startsWith(`${territory(path)}/`) || (path.startsWith('tests/repo/') && target.startsWith('scripts/'));
  if (isShipped(path) && isTest(target)) return 'shipped code needs no test';
  if (!isOwn) return 'outside of its package';
  // A command is what npm links before anything is built, so what it starts is named as it will be.
  if (/^packages\/[^/]+\/bin\//.test(path) && target.startsWith(`${territory(path)}/dist/`)) return undefined;
  return /\.(?:ts|tsx|mjs|css|json|svg)$/.test(specifier) ? undefined : 'names no file';
}

function territory(path: string): string {
  const parts = path.split('/');
  if (parts[0] === 'packages') return parts.slice(0, isTest(path) || parts[2] === 'src' ? 3 : 2).join('/');
  return parts[0] ?? '';
}

/** Workspaces are entered by the doors that they export, not through their walls. */
function judgeSubpath(name: string, specifier: string, manifests: ReadonlyMap<string, Manifest>): string | undefined {
  const target = [...manifests.values()].find((manifest) => manifest.name === name);
  if (target === undefined) return undefined;
  const subpath = `.${specifier.slice(name.length)}`;
  return Object.hasOwn(target.exports ?? {}, subpath) ? undefined : 'not exported by that package';
}

function declaredFor(path: string, manifests: ReadonlyMap<string, Manifest>): ReadonlySet<string> {
  const top = manifests.get('');
  const fromRoot = [...Object.keys(top?.dependencies ?? {}), ...Object.keys(top?.devDependencies ?? {})];
  const own = manifests.get(path.split('/').slice(0, 2).join('/'));
  if (own === undefined) {
    const workspaces = [...manifests.values()].map(({ name }) => name).filter((name) => name !== top?.name);
    return new Set([...fromRoot, ...workspaces]);
  }
  const declared = [own.dependencies, own.peerDependencies, own.optionalDependencies].flatMap((list) =>
    Object.keys(list ?? {}),
  );
  return new Set(isTest(path) ? [...declared, ...fromRoot, own.name] : declared);
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
