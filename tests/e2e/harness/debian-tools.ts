/**
 * Programs that are not npm's: out of the PATH, or of Debian's package, which is unpacked once into node_modules/.cache and
 * installed nowhere. Where neither is to be had, the reason is the answer.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './child.ts';
import { findTool, runTool } from './tool.ts';

export interface Found {
  readonly program?: string;
  /** Why there is none. */
  readonly missing?: string;
}

interface Wanted {
  readonly name: string;
  /** Of Debian, and where the program lies in it. */
  readonly package: string;
  readonly path: string;
  /** What it is asked to say, to see that it runs. */
  readonly version: string;
}

const cache = join(root, 'node_modules', '.cache', 'rollcall');

/** Prometheus' own parser. */
export function findPromtool(): Promise<Found> {
  return find({ name: 'promtool', package: 'prometheus', path: 'usr/bin/promtool', version: '--version' });
}

export function findNginx(): Promise<Found> {
  return find({ name: 'nginx', package: 'nginx', path: 'usr/sbin/nginx', version: '-v' });
}

async function find(wanted: Wanted): Promise<Found> {
  const { name, version } = wanted;
  const cached = join(cache, name);
  const installed = findTool(name);
  if (installed !== undefined) return { program: installed };
  if (await works(cached, version)) return { program: cached };
  const [aptGet, dpkg] = [findTool('apt-get'), findTool('dpkg')];
  if (aptGet === undefined || dpkg === undefined)
    return { missing: `neither ${name} nor the tools of Debian are here` };
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, `${name}-`));
  try {
    return await unpack(wanted, cached, { aptGet, dpkg, dir });
  } catch (error) {
    return { missing: String((error as Error).message) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Unpacking {
  readonly aptGet: string;
  readonly dpkg: string;
  /** Empty, and deleted afterwards. */
  readonly dir: string;
}

async function unpack(wanted: Wanted, cached: string, { aptGet, dpkg, dir }: Unpacking): Promise<Found> {
  const options = ['-q', '-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=10'];
  const fetched = await runTool(aptGet, [...options, 'download', wanted.package], { cwd: dir, withinMs: 90_000 });
  const file = readdirSync(dir).find((name) => name.endsWith('.deb'));
  if (fetched.code !== 0 || file === undefined) {
    return {
      missing: `the package ${wanted.package} of Debian cannot be had: ${fetched.stderr.trim().split('\n').at(-1)}`,
    };
  }
  const unpacked = await runTool(dpkg, ['-x', file, 'x'], { cwd: dir, withinMs: 60_000 });
  const program = join(dir, 'x', wanted.path);
  if (unpacked.code !== 0 || !(await works(program, wanted.version)))
    return { missing: 'what was unpacked does not run' };
  // Another run may have been faster; both are the same.
  renameSync(program, cached);
  return { program: cached };
}

async function works(program: string, version: string): Promise<boolean> {
  return runTool(program, [version]).then(
    ({ code }) => code === 0,
    () => false,
  );
}
