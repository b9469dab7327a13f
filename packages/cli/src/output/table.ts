/** Tables that fit the width of the page: columns as wide as they must be, the elastic ones cut in the middle. */
import { printable } from './printable.ts';
import type { Paint } from './style.ts';

export type Cell = string | { readonly text: string; readonly paint: Paint };

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** May be cut down to so many characters when the page is too narrow. */
  readonly elastic?: number;
}

export interface Row {
  readonly cells: readonly Cell[];
  /** Lines below the row, already formatted. */
  readonly below?: readonly string[];
}

const GAP = '  ';

/** Lines of the table, the head first, none wider than `width` unless columns that may not be cut are. */
export function formatTable(columns: readonly Column[], rows: readonly Row[], width: number): string[] {
  const widths = fitWidths(columns, rows, width);
  const head = formatRow(
    columns,
    columns.map((column) => column.title),
    widths,
  );
  return [head, ...rows.flatMap((row) => [formatRow(columns, row.cells, widths), ...(row.below ?? [])])];
}

/** At most `width` characters, both ends kept: ids of one fleet differ at their ends. */
export function cutMiddle(text: string, width: number): string {
  const characters = [...text];
  if (characters.length <= width) return text;
  const tail = Math.floor((width - 1) / 2);
  return [...characters.slice(0, width - 1 - tail), '…', ...characters.slice(characters.length - tail)].join('');
}

function fitWidths(columns: readonly Column[], rows: readonly Row[], width: number): number[] {
  const widths = columns.map((column, at) =>
    Math.max(column.title.length, ...rows.map((row) => lengthOf(textOf(row.cells[at])))),
  );
  let excess = widths.reduce((sum, each) => sum + each, GAP.length * (columns.length - 1)) - width;
  // The widest elastic column gives first, so that a long one does not starve a short one.
  while (excess > 0) {
    const widest = columns
      .map((column, at) => ({ at, give: column.elastic === undefined ? 0 : (widths[at] ?? 0) - column.elastic }))
      .reduce((best, each) => (each.give > best.give ? each : best));
    if (widest.give <= 0) break;
    widths[widest.at] = (widths[widest.at] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

function formatRow(columns: readonly Column[], cells: readonly Cell[], widths: readonly number[]): string {
  const parts = columns.map((column, at) => {
    const cell = cells[at];
    const text = cutMiddle(textOf(cell), widths[at] ?? 0);
    const space = ' '.repeat((widths[at] ?? 0) - lengthOf(text));
    const painted = typeof cell === 'object' ? cell.paint(text) : text;
    if (column.align === 'right') return space + painted;
    return at === columns.length - 1 ? painted : painted + space;
  });
  return parts.join(GAP).trimEnd();
}

function textOf(cell: Cell | undefined): string {
  return printable(typeof cell === 'object' ? cell.text : (cell ?? ''));
}

function lengthOf(text: string): number {
  return [...text].length;
}
