/** Liveness: freshness, pacing and back-off, and which running agent speaks for a host. */

export { isFresh, isStale, staleAfterMs } from './freshness.ts';
export {
  type FormerSpeaker,
  type InstanceNote,
  type InstanceState,
  noInstances,
  noteInstance,
  type Speaker,
} from './instance.ts';
export { type JobRetry, retryJob } from './job-retry.ts';
export { backoffMs, firstBeatMs, nextBeatMs } from './pacing.ts';
