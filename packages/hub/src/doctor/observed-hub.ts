/** What a doctor knows of a hub: gathered without changing a byte, and judged elsewhere. */
import type { DecidedRung, FileFact, HubRootFileJson, HubStatusAnswer } from '@rollcall/wire';

export interface ObservedHub {
  readonly dir: string;
  readonly kekPath: string;
  readonly offlineKeyPath: string;
  /** The user that this command runs as, and a hub would. */
  readonly uid: number;
  readonly directory: FileFact;
  /** Why no file can be made in it: `EROFS`, `EACCES`; `null` where one can. */
  readonly directoryUnwritable: string | null;
  readonly database: FileFact;
  readonly kek: FileFact;
  readonly offlineKey: FileFact;
  readonly socket: FileFact;
  readonly hubRootFile: FileFact;
  readonly socketPathBytes: number;
  readonly freeBytes: number | null;
  readonly nowMs: number;
  /** `null` where it cannot be read; else the fingerprint. */
  readonly kekFingerprint: string | null;
  /** What `hub-root.json` says; `null` where it cannot be read as one. */
  readonly hubRoot: HubRootFileJson | null;
  /** Whether another process holds the lock of the database. */
  readonly isLocked: boolean;
  readonly stored:
    | StoredFacts
    | { readonly state: 'absent' }
    | { readonly state: 'unreadable'; readonly cause: string };
  /** What the hub on the socket says; `null` where none answers. */
  readonly running: HubStatusAnswer | null;
}

export interface StoredFacts {
  readonly state: 'read';
  readonly schema: number;
  readonly knownSchema: number;
  /** Which key-encryption key its rows are under. */
  readonly kekFingerprint: string | null;
  /** What could be read with the key; `null` without the right one, or under another schema. */
  readonly inside: {
    readonly hubRoot: string;
    readonly floorMs: number;
    readonly authorityEndsAtMs: number;
    /** Rows of trust that do not open, by table. */
    readonly unreadable: Readonly<Record<string, number>>;
    /** Whose they are. */
    readonly unreadableHosts: readonly string[];
    readonly decidedRungs: readonly DecidedRung[];
  } | null;
}
