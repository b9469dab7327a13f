/**
 * The disk of a host. It buffers as a real one does: what was written is there for good only after a sync of the file, and
 * a name only after one of its directory. A power cut leaves any part of the rest. Each operation parks before it acts.
 */
import type { FileStat, Files, WritableFile } from '@rollcall/core/ports';
import type { Dice } from '../engine/dice.ts';
import type { Scheduler } from '../engine/scheduler.ts';

interface Inode {
  bytes: Uint8Array;
  /** What a power cut leaves for certain; `undefined`: nothing. */
  durable: Uint8Array | undefined;
  /** A sync has failed: the kernel takes the pages for clean, and later syncs say yes without a write. */
  isPoisoned: boolean;
}

interface NameChange {
  readonly removed?: string;
  readonly set?: readonly [string, Inode];
}

export const DIRECTORY = '/state';
export const UID = 1_000;

/** What the disk does besides its work. */
export interface DiskFaults {
  /** The error of the system that this operation meets, if any. */
  fail(operation: DiskOperation): string | undefined;
  /** How many of these bytes it takes. */
  takes(bytes: number): number;
  delayMs(): number;
}

export type DiskOperation = 'read' | 'stat' | 'create' | 'write' | 'sync' | 'rename' | 'remove' | 'syncDirectory';

export class Disk {
  #names: Map<string, Inode>;
  #durableNames: Map<string, Inode>;
  #changes: NameChange[] = [];
  #isRenamed = false;
  /** Renames of a state that a sync of the directory followed. */
  completedWrites = 0;
  /** An operation was refused. */
  hasFailed = false;
  /** Files of which a bit was flipped. */
  damages = 0;

  constructor(contents: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.#names = new Map([...contents].map(([name, bytes]) => [name, { bytes, durable: bytes, isPoisoned: false }]));
    this.#durableNames = new Map(this.#names);
  }

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  contents(): ReadonlyMap<string, Uint8Array> {
    return new Map([...this.#names].map(([name, { bytes }]) => [name, bytes]));
  }

  /** What is there whatever happens, and nothing else. */
  durableContents(): ReadonlyMap<string, Uint8Array> {
    return new Map([...this.#durableNames].map(([name, { durable }]) => [name, durable ?? new Uint8Array()]));
  }

  /** The power goes: of what was not synced, any part is left. */
  cutPower(dice: Dice): Disk {
    const names = new Map(this.#durableNames);
    for (const { removed, set } of this.#changes) {
      if (dice.chance(0.5)) continue;
      if (removed !== undefined) names.delete(removed);
      if (set !== undefined) names.set(set[0], set[1]);
    }
    return new Disk(
      new Map(
        [...names].map(([name, { bytes, durable }]) => [
          name,
          durable ?? bytes.subarray(0, dice.between(0, bytes.length)),
        ]),
      ),
    );
  }

  /** One bit of this file flips. */
  damage(name: string, dice: Dice): void {
    const inode = this.#names.get(name);
    if (inode === undefined || inode.bytes.length === 0) return;
    const bytes = Uint8Array.from(inode.bytes);
    const at = dice.below(bytes.length);
    bytes[at] = (bytes[at] as number) ^ (1 << dice.below(8));
    inode.bytes = bytes;
    inode.durable = bytes;
    this.damages += 1;
  }

  /** The port of one process. */
  open(scheduler: Scheduler, faults: DiskFaults): Files {
    const perform = async <T>(operation: DiskOperation, act: () => T): Promise<T> => {
      await scheduler.park(operation, faults.delayMs());
      const code = faults.fail(operation);
      if (code !== undefined) {
        this.hasFailed = true;
        throw systemError(code);
      }
      return act();
    };
    return {
      read: (path) => perform('read', () => Uint8Array.from(this.#inode(path).bytes)),
      stat: (path) => perform('stat', () => this.#stat(path)),
      list: () => perform('read', () => [...this.#names.keys()]),
      create: (path) =>
        perform('create', () => {
          if (this.#names.has(nameOf(path))) throw systemError('EEXIST');
          const inode: Inode = { bytes: new Uint8Array(), durable: undefined, isPoisoned: false };
          this.#change({ set: [nameOf(path), inode] });
          return this.#writable(inode, perform, faults);
        }),
      makeDirectory: () => Promise.reject(systemError('EEXIST')),
      rename: (from, to) =>
        perform('rename', () => {
          this.#change({ removed: nameOf(from), set: [nameOf(to), this.#inode(from)] });
          this.#isRenamed ||= nameOf(to).startsWith('state-');
        }),
      remove: (path) =>
        perform('remove', () => {
          this.#inode(path);
          this.#change({ removed: nameOf(path) });
        }),
      syncDirectory: (path) =>
        perform('syncDirectory', () => {
          if (path !== DIRECTORY) return;
          this.#durableNames = new Map(this.#names);
          this.#changes = [];
          if (this.#isRenamed) this.completedWrites += 1;
          this.#isRenamed = false;
        }),
    };
  }

  #writable(
    inode: Inode,
    perform: <T>(operation: DiskOperation, act: () => T) => Promise<T>,
    faults: DiskFaults,
  ): WritableFile {
    return {
      write: (bytes) =>
        perform('write', () => {
          const taken = bytes.subarray(0, faults.takes(bytes.length));
          const joined = new Uint8Array(inode.bytes.length + taken.length);
          joined.set(inode.bytes);
          joined.set(taken, inode.bytes.length);
          inode.bytes = joined;
          return taken.length;
        }),
      sync: async () => {
        try {
          await perform('sync', () => {
            if (!inode.isPoisoned) inode.durable = inode.bytes;
          });
        } catch (error) {
          inode.isPoisoned = true;
          throw error;
        }
      },
      close: async () => undefined,
    };
  }

  #stat(path: string): FileStat {
    if (path === DIRECTORY) return { kind: 'directory', mode: 0o700, uid: UID, size: 0 };
    return { kind: 'file', mode: 0o600, uid: UID, size: this.#inode(path).bytes.length };
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(nameOf(path));
    if (inode === undefined) throw systemError('ENOENT');
    return inode;
  }

  #change(change: NameChange): void {
    if (change.removed !== undefined) this.#names.delete(change.removed);
    if (change.set !== undefined) this.#names.set(...change.set);
    this.#changes.push(change);
  }
}

function nameOf(path: string): string {
  return path.slice(DIRECTORY.length + 1);
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
