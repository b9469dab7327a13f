/**
 * Prometheus' own parser. Out of the PATH, or of Debian's package, which is unpacked once into node_modules/.cache and installed nowhere.
 * Where neither is to be had, the reason is the answer.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './child.ts';
import { findTool, runTool } from './tool.ts';

export interface Promtool {
  readonly program?: string;
  /** Why there is none. */
  readonly missing?: string;
}

const cache = join(root, 'node_modules', '.cache', 'rollcall');
const cached = join(cache, 'promtool');

export async function findPromtool(): Promise<Promtool> {
  const installed = findTool('promtool');
  if (installed !== undefined) return { program: installed };
  if (await works(cached)) return { program: cached };
  const [aptGet, dpkg] = [findTool('apt-get'), findTool('dpkg')];
  if (aptGet === undefined || dpkg === undefined)
    return { missing: 'neither promtool nor the tools of Debian are here' };
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, 'promtool-'));
  try {
    return await unpack({ aptGet, dpkg, dir });
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

async function unpack({ aptGet, dpkg, dir }: Unpacking): Promise<Promtool> {
  const options = ['-q', '-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=10'];
  const fetched = await runTool(aptGet, [...options, 'download', 'prometheus'], { cwd: dir, withinMs: 90_000 });
  const file = readdirSync(dir).find((name) => name.endsWith('.deb'));
  if (fetched.code !== 0 || file === undefined) {
    return { missing: `the package prometheus of Debian cannot be had: ${fetched.stderr.trim().split('\n').at(-1)}` };
  }
  const unpacked = await runTool(dpkg, ['-x', file, 'x'], { cwd: dir, withinMs: 60_000 });
  const program = join(dir, 'x', 'usr', 'bin', 'promtool');
  if (unpacked.code !== 0 || !(await works(program))) return { missing: 'what was unpacked does not run' };
  // Another run may have been faster; both are the same.
  renameSync(program, cached);
  return { program: cached };
}

async function works(program: string): Promise<boolean> {
  return runTool(program, ['--version']).then(
    ({ code }) => code === 0,
    () => false,
  );
}
