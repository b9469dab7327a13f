/** For how long what was read of the store may go on saying yes (I8), as tight as the product promises it. */
import { limits } from '@rollcall/core/limits';
import type { World } from './world.ts';

/** Of the hub's clock, which may be a little slow. */
const SLOW_CLOCK_MS = 40;
/** A yes from memory is never older. */
export const LONGEST_YES_MS: number = 30_000 + SLOW_CLOCK_MS;
/** Statements, of which each may be slow, with those of others that are before them in the queue. */
const READS_OF_A_POLL = 20;

/** It is as old only where the store failed meanwhile; else the next poll ends it, which is as late as timers and reads are. */
export function yesMs({ knobs, scheduler, storeFailedAtMs }: World): number {
  const { hubTimerLateMs, slow, slowMs } = knobs;
  const pollMs = limits.storePollMs + hubTimerLateMs + (slow > 0 ? READS_OF_A_POLL * slowMs : 0) + SLOW_CLOCK_MS;
  const hasFailed = scheduler.nowMs - storeFailedAtMs <= LONGEST_YES_MS;
  return hasFailed ? LONGEST_YES_MS : Math.min(pollMs, LONGEST_YES_MS);
}
