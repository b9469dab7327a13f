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
  const differing = Object.entries(table).filter(([name]) => running[name] !== next[name]);
  const keys = (isLive: boolean) => differing.filter(([, row]) => row.isLive === isLive).map(([, row]) => row.key);
  return { changed: keys(true), needRestart: keys(false) };
}
