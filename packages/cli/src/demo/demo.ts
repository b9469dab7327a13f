/** What every chapter of the demo works with. */

import type { World } from '../adapters/demo-world.ts';
import type { WorkDirectory } from '../adapters/work-directory.ts';
import type { Cast } from './cast.ts';
import type { Fleet } from './fleet.ts';
import type { Narrator } from './narration.ts';
import type { Operator } from './operator.ts';
import type { Story } from './story.ts';
import type { Thief } from './thief-process.ts';

export interface Demo {
  readonly world: World;
  readonly work: WorkDirectory;
  readonly cast: Cast;
  readonly narrator: Narrator;
  readonly story: Story;
  readonly operator: Operator;
  readonly fleet: Fleet;
  /** `https://127.0.0.1:PORT`. */
  readonly hub: string;
  /** Where each of the push hosts listens, as `127.0.0.1:PORT`. */
  readonly listen: ReadonlyMap<string, string>;
}

/** Once the hub has been started, and a thief has copied its master. */
export interface RobbedDemo extends Demo {
  readonly thief: Thief;
  readonly metricsAddress: string;
  readonly trustDomain: string;
  /** SHA-256 of the keys that the hub is known by. */
  readonly spki: readonly string[];
}
