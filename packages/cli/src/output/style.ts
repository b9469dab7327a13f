/** Colour, where there is a terminal that shows it and nobody asked for none (no-color.org). */
import type { OutputStream } from '../ports.ts';

export type Paint = (text: string) => string;

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly warn: Paint;
  readonly bad: Paint;
}

const plain: Paint = (text) => text;

export const plainStyle: Style = { bold: plain, dim: plain, good: plain, warn: plain, bad: plain };

const ansiStyle: Style = {
  bold: ansi(1, 22),
  dim: ansi(2, 22),
  good: ansi(32, 39),
  warn: ansi(33, 39),
  bad: ansi(31, 39),
};

export function createStyle(
  stream: OutputStream,
  env: Readonly<Record<string, string | undefined>>,
  options: { readonly color?: boolean },
): Style {
  const unwanted = options.color === false || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return stream.isTerminal && !unwanted ? ansiStyle : plainStyle;
}

function ansi(on: number, off: number): Paint {
  return (text) => (text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`);
}
