/**
 * What a page shows as printed, held against what was printed. Tokens, digests, numbers, times and the width of columns differ
 * from run to run; every word must be the same. A line `…` on the page stands for any number of lines.
 */

/** Throws, naming the first line that was not printed. */
export function comparePrinted(shown: string, printed: string, line: number): void {
  const wanted = shown.split('\n').map(mask);
  const had = printed.split('\n').map(mask);
  let at = 0;
  let mayskip = false;
  for (const [index, text] of wanted.entries()) {
    if (text === ELLIPSIS) {
      mayskip = true;
      continue;
    }
    const found = mayskip ? had.indexOf(text, at) : at;
    if (found === -1 || had[found] !== text) throw differs(line, shown.split('\n')[index] ?? '', printed);
    at = found + 1;
    mayskip = false;
  }
  if (!mayskip && at < had.length) throw differs(line, `the end, before: ${had[at]}`, printed);
}

export function isAsShown(shown: string, printed: string): boolean {
  try {
    comparePrinted(shown, printed.trimEnd(), 0);
    return true;
  } catch {
    return false;
  }
}

/** What was printed, as a page can show it: long tokens cut, and what was left out before left out again. */
export function shorten(printed: string, before: string): string {
  const text = printed.replaceAll(/(rc[a-z]_[A-Za-z0-9_-]{8})[A-Za-z0-9_-]+/g, '$1…');
  const kept = before.split('\n').filter((line) => line === ELLIPSIS);
  if (kept.length === 0) return text;
  const masked = new Set(before.split('\n').map(mask));
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    if (masked.has(mask(line))) lines.push(line);
    else if (lines.at(-1) !== ELLIPSIS) lines.push(ELLIPSIS);
  }
  return lines.join('\n');
}

const ELLIPSIS = '…';

function mask(line: string): string {
  return (
    line
      .replaceAll(/rc[a-z]_[A-Za-z0-9_-]+…?/g, 'TOKEN')
      .replaceAll(/\b[0-9a-f]{8,64}\b…?/g, 'HEX')
      .replaceAll(/[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g, 'BYTES')
      .replaceAll(/\b(?:just now|now|\d+ ?(?:ms|s|min|h|d)(?: ago)?)\b/g, 'AGE')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'INSTANT')
      // Not in a name: web-1 is not web-2.
      .replaceAll(/(?<![A-Za-z-])-?\d+/g, '0')
      .replaceAll(/[─-╿█▏▎▍▌▋▊▉░]+/g, '-')
      .replaceAll(/\s+/g, ' ')
      .trimEnd()
  );
}

function differs(line: number, missing: string, printed: string): Error {
  return new Error(`line ${line}: the page shows\n  ${missing}\nbut this was printed:\n${printed}`);
}
