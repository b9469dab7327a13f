/** Where a hub keeps what. The key-encryption key and the offline root lie beside the data directory, never in it. */
import { join, resolve } from 'node:path';

export interface HubPaths {
  readonly database: string;
  readonly hubRoot: string;
  readonly operatorSocket: string;
  readonly kek: string;
  readonly offlineKey: string;
}

export function hubPaths(dir: string, kekFile?: string): HubPaths {
  const base = resolve(dir);
  return {
    database: join(base, 'hub.db'),
    hubRoot: join(base, 'hub-root.json'),
    operatorSocket: join(base, 'operator.sock'),
    kek: kekFile === undefined ? `${base}.kek` : resolve(kekFile),
    offlineKey: `${base}.offline-root-key`,
  };
}
