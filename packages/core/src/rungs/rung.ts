/** The rungs of the ladder that hosts climb, the lowest first (design 3): what a host presents, and how much that proves. */
import { RollcallError } from '../errors.ts';

/** `mtls` comes above them, once a certificate lets a host in. */
export const rungs = ['fleet-token', 'host-token', 'derived'] as const;

export type Rung = (typeof rungs)[number];

export function isRung(text: unknown): text is Rung {
  return (rungs as readonly unknown[]).includes(text);
}

/** Throws `malformed_rung`. */
export function parseRung(text: unknown): Rung {
  if (!isRung(text)) throw new RollcallError('malformed_rung');
  return text;
}

/** How high it is: 0 is the lowest. */
export function heightOf(rung: Rung): number {
  return rungs.indexOf(rung);
}

/** Those above it, the lowest first. */
export function rungsAbove(rung: Rung): readonly Rung[] {
  return rungs.slice(heightOf(rung) + 1);
}
