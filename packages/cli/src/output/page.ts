/** Pieces of a page for a person: labelled lines, wrapped sentences, counts in words. */
import { limits } from '@rollcall/core/limits';
import { printable } from './printable.ts';
import type { Style } from './style.ts';
import type { Cell } from './table.ts';

/** How and when a page is looked at. */
export interface View {
  readonly width: number;
  readonly style: Style;
  readonly nowMs: number;
}

/** `label   value`, the values under one another, wrapped within the page. */
export function formatFields(fields: readonly (readonly [string, Cell])[], view: View, indent = 2): string[] {
  const labelWidth = Math.max(...fields.map(([label]) => label.length)) + 2;
  return fields.flatMap(([label, value]) => {
    const [text, paint] = typeof value === 'string' ? [value, (line: string) => line] : [value.text, value.paint];
    return wrap(text, view.width - indent - labelWidth).map((line, at) => {
      const lead = (at === 0 ? label : '').padEnd(labelWidth);
      return `${' '.repeat(indent)}${view.style.dim(lead)}${paint(line)}`.trimEnd();
    });
  });
}

/** A word, or a command between backticks: both will be copied, so neither is broken. */
const WORD = /(?:`[^`]*`|\S)+/g;

/** Lines of whole words; one that is wider than the page stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const [word] of printable(text).matchAll(WORD)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** A wrapped sentence, every line set in. */
export function indented(text: string, view: View, indent: number): string[] {
  return wrap(text, view.width - indent).map((line) => `${' '.repeat(indent)}${line}`);
}

/** The first rows alone, and a line that says how many there are more. */
export function firstOf<T>(all: readonly T[], format: (item: T) => readonly string[], indent = 2): string[] {
  const lines = all.slice(0, limits.outputListRows).flatMap(format);
  const more = all.length - limits.outputListRows;
  return more > 0 ? [...lines, `${' '.repeat(indent)}… and ${more} more; --json has all`] : lines;
}

/** `1 host`, `2 hosts`, `no hosts`. */
export function countOf(n: number, noun: string, plural = `${noun}s`): string {
  return `${n === 0 ? 'no' : n} ${n === 1 ? noun : plural}`;
}

/** The part of a fingerprint that tells it from another, and is not enough to approve it with (design 3). */
export function fingerprintStart(fingerprint: string): string {
  return `${fingerprint.slice(0, 8)}…`;
}
