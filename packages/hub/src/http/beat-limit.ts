/**
 * How often a host may beat: per authenticated host and rung, never per address (design 8), since thousands may come from one
 * load balancer. And within a host per running agent: whoever has stolen its bearer must not be able to use up what the
 * true machine needs. An instance is known to its own agent alone, so a thief can only bring new ones; how often a new one
 * may come is limited by itself, and those that are heard are kept.
 */
import { limits } from '@rollcall/core/limits';
import { type Bucket, forgetOldest, fullBucket, type Rate, takeFrom } from './rate-limit.ts';

export interface BeatLimit {
  /** `speaker`: a host, as verified. Returns 0, or after how many milliseconds to come again. */
  take(speaker: string, instance: string, nowMs: number): number;
}

const beats: Rate = { perSecond: limits.beatsPerSecond, burst: limits.beatsBurst };
const newcomers: Rate = { perSecond: 1_000 / limits.newInstanceEveryMs, burst: limits.beatInstancesPerHost };

interface Speaker {
  readonly newcomers: Bucket;
  /** Those heard last stand last. */
  readonly instances: Map<string, Bucket>;
}

/** Remembers authenticated hosts only, so no more than are on the roll. */
export function createBeatLimit(): BeatLimit {
  const speakers = new Map<string, Speaker>();
  return {
    take(name, instance, nowMs) {
      let speaker = speakers.get(name);
      if (speaker === undefined) {
        speaker = { newcomers: fullBucket(newcomers, nowMs), instances: new Map() };
        speakers.set(name, speaker);
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
