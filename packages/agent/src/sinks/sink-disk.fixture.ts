/**
 * For tests: a tree of files, directories and links in memory that buffers like a real disk. Bytes are on it after a sync
 * of their file, names after a sync of their directory; a power cut leaves any subset of the buffered changes of names.
 */
import type { WritableFile } from '@rollcall/core/ports';
import type { Found, SinkFiles } from './ports.ts';

type Node = FileNode | DirectoryNode | { readonly kind: 'link'; readonly target: string };
interface Owned {
  mode: number;
  uid: number;
  gid: number;
}
interface FileNode extends Owned {
  readonly kind: 'file';
  bytes: Uint8Array;
  /** What a power cut leaves; `undefined` when nothing of it was synced. */
  durable: Uint8Array | undefined;
}
interface DirectoryNode extends Owned {
  readonly kind: 'directory';
  names: Map<string, Node>;
  durable: Map<string, Node>;
  changes: Change[];
}
interface Change {
  readonly remove?: string;
  readonly set?: { readonly name: string; readonly node: Node };
}

const own = { uid: 0, gid: 0 };

export class SinkDisk implements SinkFiles {
  /** Operations so far: to show which ones a test has met. */
  readonly operations: string[] = [];
  /** `cut`: the power; anything else is the code of an error. */
  fault: (index: number, operation: string) => string | undefined = () => undefined;
  readonly #root: DirectoryNode;

  /** Empty but for its directories, or as another one left it. */
  constructor(from: readonly string[] | DirectoryNode) {
    this.#root =
      'kind' in from
        ? (copyOf(from) as DirectoryNode)
        : directoryOf(new Map(from.map((name) => [name, directoryOf(new Map())])));
  }

  /** Every disk that a power cut at this moment can leave. */
  afterPowerCut(): readonly SinkDisk[] {
    return [0, 0.5, 1].flatMap((share) => remains(this.#root, share).map((root) => new SinkDisk(root)));
  }

  /** The texts that a reader finds at a path, links followed; `undefined` for nothing. */
  contentAt(path: string): Readonly<Record<string, string>> | undefined {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    const last = parts.pop() ?? '';
    const parent = this.#find(parts);
    let node = parent?.kind === 'directory' ? parent.names.get(last) : undefined;
    if (node?.kind === 'link' && parent?.kind === 'directory') node = parent.names.get(node.target);
    if (node?.kind !== 'directory') return undefined;
    const texts = [...node.names].map(([name, file]) => [
      name,
      file.kind === 'file' ? Buffer.from(file.bytes).toString() : '',
    ]);
    return Object.fromEntries(texts) as Record<string, string>;
  }

  look = (path: string): Promise<Found> =>
    this.#perform('look', () => {
      const node = this.#find(split(path));
      if (node === undefined) return { kind: 'absent' };
      if (node.kind === 'link') return { kind: 'link', target: node.target };
      return { kind: node.kind, mode: node.mode, uid: node.uid, gid: node.gid };
    });

  lookThrough = (path: string): Promise<Found> => this.look(path);
  list = (path: string): Promise<string[]> => this.#perform('list', () => [...this.#directory(path).names.keys()]);

  read = (path: string): Promise<Uint8Array> =>
    this.#perform('read', () => {
      const node = this.#find(split(path));
      if (node?.kind !== 'file') throw systemError('ENOENT');
      return Uint8Array.from(node.bytes);
    });

  create = (path: string, mode: number): Promise<WritableFile> =>
    this.#perform('create', () => {
      const node: FileNode = { kind: 'file', mode, ...own, bytes: new Uint8Array(), durable: undefined };
      this.#add(path, node);
      return {
        write: (bytes) =>
          this.#perform('write', () => {
            node.bytes = Uint8Array.from([...node.bytes, ...bytes]);
            return bytes.length;
          }),
        sync: () =>
          this.#perform('sync', () => {
            node.durable = node.bytes;
          }),
        close: () => this.#perform('close', () => undefined),
      };
    });

  makeDirectory = (path: string, mode: number): Promise<void> =>
    this.#perform('make directory', () => this.#add(path, { ...directoryOf(new Map()), mode }));

  give = (
    path: string,
    looks: { readonly mode: number; readonly uid?: number; readonly gid?: number },
  ): Promise<void> =>
    this.#perform('give', () => {
      const node = this.#find(split(path));
      if (node === undefined || node.kind === 'link') throw systemError('ENOENT');
      Object.assign(node, looks);
    });

  link = (target: string, path: string): Promise<void> =>
    this.#perform('link', () => this.#add(path, { kind: 'link', target }));

  rename = (from: string, to: string): Promise<void> =>
    this.#perform('rename', () => {
      const node = this.#find(split(from));
      if (node === undefined) throw systemError('ENOENT');
      this.#change(parentPath(to), { remove: lastOf(from), set: { name: lastOf(to), node } });
    });

  remove = (path: string): Promise<void> =>
    this.#perform('remove', () => {
      if (this.#find(split(path)) === undefined) throw systemError('ENOENT');
      this.#change(parentPath(path), { remove: lastOf(path) });
    });

  removeDirectory = (path: string): Promise<void> =>
    this.#perform('remove directory', () => {
      if (this.#directory(path).names.size > 0) throw systemError('ENOTEMPTY');
      this.#change(parentPath(path), { remove: lastOf(path) });
    });

  syncDirectory = (path: string): Promise<void> =>
    this.#perform('sync directory', () => {
      const directory = this.#directory(path);
      directory.durable = new Map(directory.names);
      directory.changes = [];
    });

  async #perform<T>(operation: string, act: () => T): Promise<T> {
    this.operations.push(operation);
    const fault = this.fault(this.operations.length - 1, operation);
    if (fault !== undefined) throw systemError(fault);
    return act();
  }

  #add(path: string, node: Node): void {
    if (this.#find(split(path)) !== undefined) throw systemError('EEXIST');
    this.#change(parentPath(path), { set: { name: lastOf(path), node } });
  }

  #change(path: string, change: Change): void {
    const directory = this.#directory(path);
    apply(directory.names, change);
    directory.changes.push(change);
  }

  #directory(path: string): DirectoryNode {
    const node = this.#find(split(path));
    if (node?.kind !== 'directory') throw systemError(node === undefined ? 'ENOENT' : 'ENOTDIR');
    return node;
  }

  #find(parts: readonly string[]): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const part of parts) node = node?.kind === 'directory' ? node.names.get(part) : undefined;
    return node;
  }
}

/** Every state of a node that a power cut can leave. */
function remains(node: DirectoryNode, share: number): DirectoryNode[] {
  let found: DirectoryNode[] = [];
  for (let subset = 0; subset < 2 ** node.changes.length; subset += 1) {
    const names = new Map(node.durable);
    for (const [index, change] of node.changes.entries()) if ((subset & (1 << index)) !== 0) apply(names, change);
    let partial: Map<string, Node>[] = [new Map()];
    for (const [name, child] of names) {
      const left =
        child.kind === 'directory' ? remains(child, share) : [child.kind === 'file' ? cutFile(child, share) : child];
      partial = partial.flatMap((map) => left.map((one) => new Map(map).set(name, one)));
    }
    found = [...found, ...partial.map((map) => ({ ...directoryOf(map), mode: node.mode }))];
  }
  return found;
}

/** Disks that a power cut leaves have parts in common, and each is written to afterwards. */
function copyOf(node: Node): Node {
  if (node.kind !== 'directory') return { ...node };
  return { ...directoryOf(new Map([...node.names].map(([name, child]) => [name, copyOf(child)]))), mode: node.mode };
}

function cutFile(file: FileNode, share: number): FileNode {
  const bytes = file.durable ?? file.bytes.subarray(0, Math.floor(file.bytes.length * share));
  return { ...file, bytes, durable: bytes };
}

function directoryOf(names: Map<string, Node>): DirectoryNode {
  return { kind: 'directory', mode: 0o755, ...own, names, durable: new Map(names), changes: [] };
}

function apply(names: Map<string, Node>, { remove, set }: Change): void {
  if (remove !== undefined) names.delete(remove);
  if (set !== undefined) names.set(set.name, set.node);
}

function split(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function parentPath(path: string): string {
  return split(path).slice(0, -1).join('/');
}

function lastOf(path: string): string {
  return split(path).at(-1) ?? '';
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
