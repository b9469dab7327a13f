/** What a reload changes: by the table, the keys that a running program takes, and those that wait for its next start. */
import type { ConfigTable } from './config-file.ts';

export interface ConfigChanges {
  /** Keys of the file, live ones. */
  readonly changed: readonly string[];
  readonly needRestart: readonly string[];
}

export function compareConfig(
  table: ConfigTable,
  running: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
): ConfigChanges {
  const differing = Object.entries(table).filter(([name]) => isOther(running[name], next[name]));
  const keys = (isLive: boolean) => differing.filter(([, row]) => row.isLive === isLive).map(([, row]) => row.key);
  return { changed: keys(true), needRestart: keys(false) };
}

/** A list was built anew each time, in the order of its table. */
function isOther(running: unknown, next: unknown): boolean {
  return running !== next && JSON.stringify(running) !== JSON.stringify(next);
}
