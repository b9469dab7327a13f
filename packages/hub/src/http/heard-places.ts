/**
 * Places for those who are heard, of a bounded number. Whoever is heard again within a few intervals keeps its place, however many
 * come anew; who comes anew waits its turn with the others of its network, and one network never holds all places.
 */
import { limits } from '@rollcall/core/limits';
import { type Bucket, fullBucket, type Rate, takeFrom } from './rate-limit.ts';

export interface HeardPlaces<T> {
  /** Of all networks that hold no place yet. */
  readonly newcomers: Bucket;
  /** Those heard last stand last. */
  readonly held: Map<string, Place<T>>;
  /** Those that hold a place, so that there are no more of them than places. */
  readonly networks: Map<string, Network>;
}

export interface PlaceBounds {
  readonly places: number;
  /** Of one network; and of all that hold no place together. */
  readonly newcomers: Rate;
}

interface Place<T> {
  readonly value: T;
  readonly network: string;
  heardAtMs: number;
}

interface Network {
  readonly newcomers: Bucket;
  places: number;
}

export function createPlaces<T>({ newcomers }: PlaceBounds, nowMs: number): HeardPlaces<T> {
  return { newcomers: fullBucket(newcomers, nowMs), held: new Map(), networks: new Map() };
}

/** Of one who is known, and heard with this. `nowMs`: monotonic. */
export function hear<T>({ held }: HeardPlaces<T>, key: string, nowMs: number): T | undefined {
  const place = held.get(key);
  if (place === undefined) return undefined;
  place.heardAtMs = nowMs;
  // One that is alone, as almost all are, stands last already.
  if (held.size > 1) {
    held.delete(key);
    held.set(key, place);
  }
  return place.value;
}

/** For one who is not known. Returns 0, or after how many milliseconds to come again. */
export function takeTurn<T>(places: HeardPlaces<T>, bounds: PlaceBounds, network: string, nowMs: number): number {
  const bucket = places.networks.get(network)?.newcomers ?? places.newcomers;
  return takeFrom(bucket, bounds.newcomers, nowMs);
}

export interface Newcomer<T> {
  readonly key: string;
  readonly network: string;
  readonly value: T;
}

/** After its turn: where there is a place for it. Without one it is nobody who is known, and takes turns. */
export function givePlace<T>(
  places: HeardPlaces<T>,
  bounds: PlaceBounds,
  { key, network, value }: Newcomer<T>,
  nowMs: number,
): void {
  forgetSilent(places, nowMs);
  // What the others have used up it has not got either: a thief of many networks would have a burst of each.
  const ofNetwork = places.networks.get(network) ?? { newcomers: { ...places.newcomers }, places: 0 };
  if (places.held.size >= bounds.places || ofNetwork.places >= bounds.places / 2) return;
  places.networks.set(network, ofNetwork);
  ofNetwork.places += 1;
  places.held.set(key, { value, network, heardAtMs: nowMs });
}

function forgetSilent<T>({ held, networks }: HeardPlaces<T>, nowMs: number): void {
  for (const [key, { network, heardAtMs }] of held) {
    if (nowMs - heardAtMs <= limits.heardKeptMs) return;
    held.delete(key);
    const ofNetwork = networks.get(network);
    if (ofNetwork === undefined) continue;
    ofNetwork.places -= 1;
    if (ofNetwork.places === 0) networks.delete(network);
  }
}
