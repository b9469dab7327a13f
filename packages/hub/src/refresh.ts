/**
 * After a commit: memory becomes as new as the store. What was done stays done when that fails, and is answered as done: the
 * jobs try again, and until one of them succeeds memory says yes for as long as I8 lets it, and nothing after that.
 */
import type { Hub } from './hub.ts';

type Memory = Pick<Hub, 'roll' | 'generations' | 'tokens'>;

/**
 * What hosts are told to hold is read last: a step whose versions are not in memory yet could not be sealed, and its beat would be
 * refused. Rejects with what the first that failed was refused with.
 */
export async function catchUp({ roll, generations, tokens }: Memory): Promise<void> {
  await Promise.all([generations.catchUp(), tokens.catchUp()]);
  await roll.catchUp();
}

export async function refresh(hub: Memory & Pick<Hub, 'log'>): Promise<void> {
  try {
    await catchUp(hub);
  } catch (error) {
    const { code = 'internal' } = error as { readonly code?: string };
    hub.log.error('what was written could not be read again yet', { code });
  }
}
