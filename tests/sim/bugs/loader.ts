/** Module hooks that put one bug into the file that it is about. Runs in the thread of Node's loader. */
import type { Bug } from './bug.ts';

let bug: Bug | undefined;

export function initialize(data: Bug): void {
  bug = data;
}

type Load = (url: string, context: object) => Promise<{ source?: string | Uint8Array }>;

export async function load(url: string, context: object, next: Load): Promise<object> {
  const loaded = await next(url, context);
  if (bug === undefined || !url.endsWith(`/packages/${bug.file}`)) return loaded;
  const text = typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source ?? '').toString('utf8');
  const parts = text.split(bug.from);
  if (parts.length !== 2) throw new Error(`bug ${bug.name}: its place occurs ${parts.length - 1} times in ${bug.file}`);
  return { ...loaded, source: parts.join(bug.to.replaceAll('BUG()', 'globalThis.noteBug()')) };
}
