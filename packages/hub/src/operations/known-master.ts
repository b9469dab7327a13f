/** What a host goes on knowing when its own credentials are dead (design 3: there, `evict` says that only a rotation revokes). */
import { currentGeneration, liveGenerations } from '@rollcall/core/rotation';
import { MASTER } from '../live-generations.ts';
import type { LiveRecord } from '../store/generations.ts';
import type { HostRecord } from '../store/hosts.ts';

/**
 * The version that a host of an older fleet knows: the oldest that is there. Later ones were drawn by the hub, and no verb
 * shows them.
 */
export function versionKnownByFleet(generations: readonly LiveRecord[]): number | null {
  if (currentGeneration(generations) === null) return null;
  return Math.min(...generations.map(({ version }) => version));
}

/** Whether it holds a master that still verifies: enrolling it anew takes that from nobody, the end of that version does. */
export function knowsLiveMaster(
  host: Pick<HostRecord, 'knows_master'>,
  generations: readonly LiveRecord[],
  nowMs: number,
): boolean {
  return liveGenerations(generations, nowMs).some(({ version }) => version === host.knows_master);
}

/**
 * The shared secrets that outlive an eviction. Under the second scheme a key has no life (design 3, Derivation), so the
 * keys of any host stay good for its next beginning as well.
 */
export function heldSecrets(
  host: Pick<HostRecord, 'knows_master'>,
  generations: readonly LiveRecord[],
  nowMs: number,
): string[] {
  const hasNoLife = liveGenerations(generations, nowMs).some(({ scheme }) => scheme.name === 'hmac-sha256');
  return hasNoLife || knowsLiveMaster(host, generations, nowMs) ? [MASTER] : [];
}
