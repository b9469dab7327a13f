/**
 * How often a host may beat: per authenticated host and rung, never per address alone (design 8), since thousands may come from
 * one load balancer. And within a host per running agent: whoever has stolen its bearer must not be able to use up what the
 * true machine needs. An instance is known to its own agent alone, so a thief can only bring new ones; those that are heard keep
 * their places, and what comes anew is limited by itself, per network (docs/decisions/012).
 */
import { limits } from '@rollcall/core/limits';
import { networkOf } from '@rollcall/wire';
import { createPlaces, givePlace, type HeardPlaces, hear, type PlaceBounds, takeTurn } from './heard-places.ts';
import { type Bucket, fullBucket, type Rate, takeFrom } from './rate-limit.ts';

export interface BeatLimit {
  /** `speaker`: the entry of a host, as verified. Returns 0, or after how many milliseconds to come again. */
  take(speaker: object, instance: string, from: string, nowMs: number): number;
}

/** For those that say to be a host which is on no roll, or say nothing. */
export interface UnlistedBeatLimit {
  take(declaredHost: string | null, instance: string, from: string, nowMs: number): number;
}

const beats: Rate = { perSecond: limits.beatsPerSecond, burst: limits.beatsBurst };

const ofOneHost: PlaceBounds = {
  places: limits.beatInstancesPerHost,
  newcomers: { perSecond: 1_000 / limits.newInstanceEveryMs, burst: limits.beatInstancesPerHost },
};

const ofUnlisted: PlaceBounds = {
  places: limits.unlistedHosts,
  newcomers: { perSecond: limits.newUnlistedHostsPerSecond, burst: limits.newUnlistedHostsBurst },
};

/** By instance. */
type Speaker = HeardPlaces<Bucket>;

/** Remembers a host for as long as the roll in memory does: one that was removed is forgotten with its entry. */
export function createBeatLimit(): BeatLimit {
  const speakers = new WeakMap<object, Speaker>();
  return {
    take(entry, instance, from, nowMs) {
      let speaker = speakers.get(entry);
      if (speaker === undefined) {
        speaker = createPlaces(ofOneHost, nowMs);
        speakers.set(entry, speaker);
      }
      return takeOf(speaker, instance, from, nowMs);
    },
  };
}

/**
 * Whoever holds the shared token may say any name, so each name is one speaker per network, and who says none is known by its
 * instance. Nobody's share depends on how many others there are, as long as there is a place.
 */
export function createUnlistedBeatLimit(): UnlistedBeatLimit {
  let speakers: HeardPlaces<Speaker> | undefined;
  return {
    take(declaredHost, instance, from, nowMs) {
      speakers ??= createPlaces(ofUnlisted, nowMs);
      const network = networkOf(from);
      const key = `${network} ${declaredHost ?? `? ${instance}`}`;
      let speaker = hear(speakers, key, nowMs);
      if (speaker === undefined) {
        const waitMs = takeTurn(speakers, ofUnlisted, network, nowMs);
        if (waitMs > 0) return waitMs;
        speaker = createPlaces(ofOneHost, nowMs);
        givePlace(speakers, ofUnlisted, { key, network, value: speaker }, nowMs);
      }
      return takeOf(speaker, instance, from, nowMs);
    },
  };
}

function takeOf(speaker: Speaker, instance: string, from: string, nowMs: number): number {
  let bucket = hear(speaker, instance, nowMs);
  if (bucket === undefined) {
    const network = networkOf(from);
    const waitMs = takeTurn(speaker, ofOneHost, network, nowMs);
    if (waitMs > 0) return waitMs;
    bucket = fullBucket(beats, nowMs);
    givePlace(speaker, ofOneHost, { key: instance, network, value: bucket }, nowMs);
  }
  return takeFrom(bucket, beats, nowMs);
}
