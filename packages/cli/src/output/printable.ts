/** What came from elsewhere, made safe for a terminal: a host must not move the cursor of the person on call. */

/** C0 and C1 controls, line and paragraph separators, and the marks that reorder text (CVE-2021-42574). */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** One line; whatever a terminal would obey is shown as its code point. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `<${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}>`);
}
