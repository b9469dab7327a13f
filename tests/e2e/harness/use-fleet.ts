/** A fleet for the tests of one `describe`: made before the first, ended after the last. */
import { afterAll, beforeAll } from 'vitest';
import { createFleet, type Fleet, type FleetOptions } from './fleet.ts';

export function useFleet(options: FleetOptions | (() => FleetOptions) = {}): () => Fleet {
  let fleet: Fleet | undefined;
  beforeAll(async () => {
    fleet = await createFleet(typeof options === 'function' ? options() : options);
  });
  afterAll(async () => {
    await fleet?.close();
  });
  return () => {
    if (fleet === undefined) throw new Error('the fleet is not there yet');
    return fleet;
  };
}
