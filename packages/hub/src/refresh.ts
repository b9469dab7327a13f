/**
 * After a commit: memory becomes as new as the store. What was done stays done when that fails, and is answered as done: the
 * jobs try again, and until one of them succeeds memory says yes for as long as I8 lets it, and nothing after that.
 */
import type { Hub } from './hub.ts';

export async function refresh(hub: Pick<Hub, 'roll' | 'generations' | 'tokens' | 'log'>): Promise<void> {
  const reads = await Promise.allSettled([hub.roll.catchUp(), hub.generations.catchUp(), hub.tokens.catchUp()]);
  for (const read of reads) {
    if (read.status === 'fulfilled') continue;
    const { code = 'internal' } = read.reason as { readonly code?: string };
    hub.log.error('what was written could not be read again yet', { code });
  }
}
