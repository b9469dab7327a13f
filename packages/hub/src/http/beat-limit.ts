/**
 * How often a host may beat: per authenticated host and rung, never per address (design 8), since thousands may come from one
 * load balancer. And within a host per running agent: whoever has stolen its bearer must not be able to use up what the
 * true machine needs. An instance is known to its own agent alone, so a thief can only bring new ones; how often a new one
 * may come is limited by itself, and those that are heard are kept.
 */
import { limits } from '@rollcall/core/limits';
import { type Bucket, forgetOldest, fullBucket, type Rate, takeFrom } from './rate-limit.ts';

export interface BeatLimit {
  /** `speaker`: the entry of a host, as verified. Returns 0, or after how many milliseconds to come again. */
  take(speaker: object, instance: string, nowMs: number): number;
}

const beats: Rate = { perSecond: limits.beatsPerSecond, burst: limits.beatsBurst };
const newcomers: Rate = { perSecond: 1_000 / limits.newInstanceEveryMs, burst: limits.beatInstancesPerHost };

interface Speaker {
  readonly newcomers: Bucket;
  /** Those heard last stand last. */
  readonly instances: Map<string, Bucket>;
}

/** Remembers a host for as long as the roll in memory does: one that was removed is forgotten with its entry. */
export function createBeatLimit(): BeatLimit {
  const speakers = new WeakMap<object, Speaker>();
  return {
    take(entry, instance, nowMs) {
      let speaker = speakers.get(entry);
      if (speaker === undefined) {
        speaker = { newcomers: fullBucket(newcomers, nowMs), instances: new Map() };
        speakers.set(entry, speaker);
      }
      return takeOf(speaker, instance, nowMs);
    },
  };
}

function takeOf(speaker: Speaker, instance: string, nowMs: number): number {
  const { instances } = speaker;
  let bucket = instances.get(instance);
  if (bucket === undefined) {
    const waitMs = takeFrom(speaker.newcomers, newcomers, nowMs);
    if (waitMs > 0) return waitMs;
    bucket = fullBucket(beats, nowMs);
    instances.set(instance, bucket);
    if (instances.size > limits.beatInstancesPerHost) forgetOldest(instances);
  } else if (instances.size > 1) {
    // One that is alone, as almost all are, stands last already.
    instances.delete(instance);
    instances.set(instance, bucket);
  }
  return takeFrom(bucket, beats, nowMs);
}
