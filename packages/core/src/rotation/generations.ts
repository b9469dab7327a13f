/** The generations of a secret: which of them verify at a moment of the hub's clock (I7, I14). */

import assert from 'node:assert/strict';

/** One row of the generation store. `destroyed` ones are not among them. */
export interface Generation {
  readonly version: number;
  readonly state: 'current' | 'previous';
  /** When a previous one stops verifying, on the hub's clock. `null`, 0 or unreadable: it has stopped. */
  readonly verifyUntilMs: number | null;
  /** It was replaced with `--reason leak`: who still presents it no longer has a say. */
  readonly leaked: boolean;
}

/** The generations that verify now, newest first, at most two: the current one always, a previous one in its window. */
export function liveGenerations<G extends Generation>(generations: readonly G[], nowMs: number): readonly G[] {
  const current = currentGeneration(generations);
  const previous = previousGeneration(generations);
  const live: G[] = [];
  if (current !== null) live.push(current);
  if (previous !== null && isWindowOpen(previous.verifyUntilMs, nowMs)) live.push(previous);
  return live;
}

export function currentGeneration<G extends Generation>(generations: readonly G[]): G | null {
  const current = generations.filter((generation) => generation.state === 'current');
  assert(current.length <= 1, 'at most one generation is current');
  return current[0] ?? null;
}

/** The newest previous one: an older one that should have been destroyed never verifies (I14). */
export function previousGeneration<G extends Generation>(generations: readonly G[]): G | null {
  let newest: G | null = null;
  for (const generation of generations) {
    if (generation.state !== 'previous') continue;
    if (newest === null || generation.version > newest.version) newest = generation;
  }
  return newest;
}

/** Written so that every unreadable time, of the window or of the clock, is a closed window (I7). */
export function isWindowOpen(untilMs: number | null, nowMs: number): boolean {
  return typeof untilMs === 'number' && Number.isFinite(untilMs) && untilMs > 0 && nowMs < untilMs;
}
