/** The third signal of proving: what a scan of the configured repositories found to name a version of a token (design 5, References). */
import type { Blocker, Observations } from './gate.ts';
import { stayingVersion } from './holder.ts';
import type { Rotation } from './phases.ts';

/** The last scan. It reports what it found; whether that is stale is decided here, since the way back drops the other version. */
export interface References {
  /** When everything below the roots had been read, on the hub's clock; `null`: never yet. */
  readonly examinedAtMs: number | null;
  readonly found: readonly Reference[];
}

export interface Reference {
  /** A file and its line, never what stands there. */
  readonly where: string;
  /** A version by its number, one by a word such as `latest`, or the token itself, in clear. */
  readonly names: number | 'unpinned' | 'value';
}

/**
 * A scan since the phase began found nothing but the version that stays. Required once a scan root is configured: one that was
 * not scanned since says nothing of what is written there now (I10). A place is no member, so it is mended and never left.
 */
export function everyReferenceCurrent(
  rotation: Rotation,
  { references }: Observations,
  _policy: unknown,
  nowMs: number,
): readonly Blocker[] {
  if (references === null) return [];
  const sinceMs = rotation.phaseStartedAtMs;
  if (!wasExamined(references, sinceMs, nowMs)) {
    const hint =
      'The scan roots were not scanned since this phase began, so what they refer to is not known: scan them.';
    return [{ member: 'references', missing: 'references_scanned', sinceMs, hint }];
  }
  return references.found.flatMap(({ where, names }) => {
    const lack = lackOf(names, stayingVersion(rotation));
    return lack === null ? [] : [{ member: where, sinceMs, ...lack }];
  });
}

/** A time ahead of the clock or unreadable is none (I7). */
function wasExamined({ examinedAtMs }: References, sinceMs: number, nowMs: number): boolean {
  return examinedAtMs !== null && examinedAtMs >= sinceMs && examinedAtMs <= nowMs;
}

function lackOf(names: Reference['names'], staying: number): Pick<Blocker, 'missing' | 'hint'> | null {
  if (names === staying) return null;
  if (names === 'value') {
    return {
      missing: 'no_value_in_clear',
      hint: 'The token itself stands there: take it out, and let a token file hold it.',
    };
  }
  if (names === 'unpinned') {
    return { missing: 'reference_pinned', hint: `It names no version by its number: write version ${staying}.` };
  }
  return { missing: 'reference_current', hint: `It refers to version ${names}: write version ${staying}.` };
}
