/** What a world has of faults that last. */
import type { DiskOperation } from './disk.ts';

/** Errors of a system that is broken, until they are taken away. */
export interface Broken {
  /** Every operation of the store fails with this. */
  store: string | undefined;
  /** By machine: its disk takes no byte. */
  readonly fullDisks: Set<string>;
  /** By machine: chance that an operation of its disk fails, of all of them or of one kind. */
  readonly badDisks: Map<string, { readonly chance: number; readonly only?: DiskOperation }>;
}
