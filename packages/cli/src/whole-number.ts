/** Whole numbers as options: the error names the option, and what it takes. */
import { usageError } from './usage-error.ts';

export function wholeNumber(
  option: string,
  text: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw usageError(
    `${option} takes a whole number from ${least} ${most === Number.MAX_SAFE_INTEGER ? 'on' : `to ${most}`}`,
  );
}
