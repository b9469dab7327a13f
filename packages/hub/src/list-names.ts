/** Some names for a sentence: whoever can write the database could make it as long as the roll. */
import { limits } from '@rollcall/core/limits';

export function listNames(names: readonly string[]): string {
  const more = names.length - limits.namesInSentence;
  const shown = names.slice(0, limits.namesInSentence).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
