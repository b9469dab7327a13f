/** A block of lines at the end of a terminal that is drawn over again. */
import type { OutputStream } from '../ports.ts';

export interface LiveBlock {
  draw(lines: readonly string[]): void;
  clear(): void;
}

const ANSI = /\u001b\[\d+m/g;

/** What a terminal is taken for that does not say its size. */
const COLUMNS = 80;
const ROWS = 24;

export function createLiveBlock(stream: OutputStream): LiveBlock {
  let height = 0;
  const erase = () => (height === 0 ? '' : `\u001b[${height}A\r\u001b[J`);
  return {
    draw(lines) {
      const before = erase();
      const shown = fitRows(lines, stream);
      height = shown.reduce((sum, line) => sum + rowsOf(line, stream), 0);
      stream.write(`${before}${shown.join('\n')}\n`);
    },
    clear() {
      stream.write(erase());
      height = 0;
    },
  };
}

/** What has scrolled off the top cannot be drawn over; so the block is never higher than the terminal. */
function fitRows(lines: readonly string[], stream: OutputStream): readonly string[] {
  let left = (stream.rows ?? ROWS) - 1;
  const fitting = lines.findIndex((line) => {
    left -= rowsOf(line, stream);
    return left < 0;
  });
  return fitting === -1 ? lines : [...lines.slice(0, Math.max(0, fitting - 1)), '…'];
}

/** A line that wraps takes more than one row. */
function rowsOf(line: string, stream: OutputStream): number {
  return Math.max(1, Math.ceil([...line.replace(ANSI, '')].length / (stream.columns ?? COLUMNS)));
}
