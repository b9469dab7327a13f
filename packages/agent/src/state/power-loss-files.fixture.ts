/**
 * For tests: a file system in memory that buffers like a real one. What was written is on the disk only after a
 * successful sync of the file, and what a name stands for only after one of its directory. A power cut leaves any subset
 * of the buffered changes of names, and any part of the buffered bytes of a file.
 */
import type { FileStat, Files, WritableFile } from '@rollcall/core/ports';

interface Inode {
  bytes: Uint8Array;
  /** What a power cut leaves; `undefined` when nothing of it was ever synced. */
  durable: Uint8Array | undefined;
  /** A sync has failed: the kernel forgets that these pages are dirty, and later syncs say yes without a write. */
  poisoned: boolean;
  readonly mode: number;
}

interface NameChange {
  readonly remove?: string;
  readonly set?: { readonly name: string; readonly inode: Inode };
}

export type Fault = 'power_cut' | { readonly code: string } | { readonly shortWrite: number };

export const DIRECTORY = '/state';
export const UID = 1_000;

export class PowerLossFiles implements Files {
  /** Operations so far, by name: to show which ones a test has met. */
  readonly operations: string[] = [];
  /** Whether the n-th operation, counted from 0, fails, and how. */
  fault: (index: number, operation: string) => Fault | undefined = () => undefined;
  /** Syncs per descriptor that came after one that failed. */
  retriedSyncs = 0;
  #names: Map<string, Inode>;
  readonly #durableNames: Map<string, Inode>;
  #changes: NameChange[] = [];

  constructor(disk: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.#names = new Map(
      [...disk].map(([name, bytes]) => [name, { bytes, durable: bytes, poisoned: false, mode: 0o600 }]),
    );
    this.#durableNames = new Map(this.#names);
  }

  /** Every content of the directory that a power cut at this moment can leave. */
  disksAfterPowerCut(): readonly ReadonlyMap<string, Uint8Array>[] {
    const disks: ReadonlyMap<string, Uint8Array>[] = [];
    for (let subset = 0; subset < 2 ** this.#changes.length; subset += 1) {
      const names = new Map(this.#durableNames);
      for (const [index, { remove, set }] of this.#changes.entries()) {
        if ((subset & (1 << index)) === 0) continue;
        if (remove !== undefined) names.delete(remove);
        if (set !== undefined) names.set(set.name, set.inode);
      }
      for (const share of [0, 0.5, 1]) {
        disks.push(new Map([...names].map(([name, inode]) => [name, contentAfterPowerCut(inode, share)])));
      }
    }
    return disks;
  }

  /** What a new process on the same machine sees. */
  contents(): ReadonlyMap<string, Uint8Array> {
    return new Map([...this.#names].map(([name, { bytes }]) => [name, bytes]));
  }

  async read(path: string): Promise<Uint8Array> {
    return this.#perform('read', () => Uint8Array.from(this.#inode(path).bytes));
  }

  async stat(path: string): Promise<FileStat> {
    return this.#perform('stat', () => {
      if (path === DIRECTORY) return { kind: 'directory', mode: 0o700, uid: UID, size: 0 };
      const { mode, bytes } = this.#inode(path);
      return { kind: 'file', mode, uid: UID, size: bytes.length };
    });
  }

  async list(): Promise<readonly string[]> {
    return this.#perform('list', () => [...this.#names.keys()]);
  }

  async create(path: string, mode: number): Promise<WritableFile> {
    return this.#perform('create', () => {
      if (this.#names.has(nameOf(path))) throw systemError('EEXIST');
      const inode: Inode = { bytes: new Uint8Array(), durable: undefined, poisoned: false, mode };
      this.#change({ set: { name: nameOf(path), inode } });
      return this.#open(inode);
    });
  }

  async makeDirectory(): Promise<void> {
    throw systemError('EEXIST');
  }

  async rename(from: string, to: string): Promise<void> {
    this.#perform('rename', () =>
      this.#change({ remove: nameOf(from), set: { name: nameOf(to), inode: this.#inode(from) } }),
    );
  }

  async remove(path: string): Promise<void> {
    this.#perform('remove', () => {
      this.#inode(path);
      this.#change({ remove: nameOf(path) });
    });
  }

  async syncDirectory(path: string): Promise<void> {
    this.#perform('sync directory', () => {
      if (path !== DIRECTORY) return;
      this.#durableNames.clear();
      for (const [name, inode] of this.#names) this.#durableNames.set(name, inode);
      this.#changes = [];
    });
  }

  #open(inode: Inode): WritableFile {
    let hasFailed = false;
    return {
      write: async (bytes) => {
        const fault = this.#next('write');
        const taken = bytes.subarray(
          0,
          typeof fault === 'object' && 'shortWrite' in fault ? fault.shortWrite : bytes.length,
        );
        return this.#settle(fault, () => {
          inode.bytes = Uint8Array.from([...inode.bytes, ...taken]);
          return taken.length;
        });
      },
      sync: async () => {
        if (hasFailed) this.retriedSyncs += 1;
        const fault = this.#next('sync');
        if (typeof fault === 'object') {
          hasFailed = true;
          inode.poisoned = true;
        }
        this.#settle(fault, () => {
          if (!inode.poisoned) inode.durable = inode.bytes;
        });
      },
      close: async () => this.#perform('close', () => undefined),
    };
  }

  #perform<T>(operation: string, act: () => T): T {
    return this.#settle(this.#next(operation), act);
  }

  #next(operation: string): Fault | undefined {
    this.operations.push(operation);
    return this.fault(this.operations.length - 1, operation);
  }

  #settle<T>(fault: Fault | undefined, act: () => T): T {
    if (fault === 'power_cut') throw new Error('the power is cut');
    if (typeof fault === 'object' && 'code' in fault) throw systemError(fault.code);
    return act();
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(nameOf(path));
    if (inode === undefined) throw systemError('ENOENT');
    return inode;
  }

  #change(change: NameChange): void {
    if (change.remove !== undefined) this.#names.delete(change.remove);
    if (change.set !== undefined) this.#names.set(change.set.name, change.set.inode);
    this.#changes.push(change);
  }
}

function contentAfterPowerCut({ bytes, durable }: Inode, share: number): Uint8Array {
  return durable ?? bytes.subarray(0, Math.floor(bytes.length * share));
}

function nameOf(path: string): string {
  return path.slice(DIRECTORY.length + 1);
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
