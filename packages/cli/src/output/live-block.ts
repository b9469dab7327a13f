/** A block of lines at the end of a terminal that is drawn over again. */
import type { OutputStream } from '../ports.ts';

export interface LiveBlock {
  draw(lines: readonly string[]): void;
  clear(): void;
}

const ANSI = /\u001b\[\d+m/g;

export function createLiveBlock(stream: OutputStream): LiveBlock {
  let height = 0;
  const erase = () => (height === 0 ? '' : `\u001b[${height}A\r\u001b[J`);
  return {
    draw(lines) {
      // A line that wraps takes more than one row, and the cursor must go back over all of them.
      const rows = lines.map((line) =>
        Math.max(1, Math.ceil([...line.replace(ANSI, '')].length / (stream.columns ?? 80))),
      );
      stream.write(`${erase()}${lines.join('\n')}\n`);
      height = rows.reduce((sum, each) => sum + each, 0);
    },
    clear() {
      stream.write(erase());
      height = 0;
    },
  };
}
