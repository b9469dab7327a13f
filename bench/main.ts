/**
 * Runs every benchmark and prints a table, or with --json one document. Exit code 1 when a bound does not hold. With --timing
 * only whether the time of a refusal tells why, which takes as long as many samples do.
 */
import { availableParallelism, cpus } from 'node:os';
import { benchBearer } from './bearer.ts';
import { benchFlood } from './flood.ts';
import { benchGates } from './gates.ts';
import { benchHeartbeat } from './heartbeat.ts';
import type { BenchResult } from './measure.ts';
import { benchSeal } from './seal.ts';
import { benchSlowSenders } from './slow-senders.ts';
import { benchTiming } from './timing.ts';
import { benchToken } from './token.ts';
import { benchTokenTiming } from './token-timing.ts';

const benches: readonly (() => Promise<BenchResult[]>)[] = process.argv.includes('--timing')
  ? [() => benchTiming(), benchTokenTiming]
  : [benchSeal, benchBearer, benchToken, benchGates, benchHeartbeat, benchFlood, benchSlowSenders];

const results: BenchResult[] = [];
for (const bench of benches) results.push(...(await bench()));

const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.versions.node}, OpenSSL ${process.versions.openssl}`;
process.stdout.write(process.argv.includes('--json') ? `${JSON.stringify({ results, machine })}\n` : table());
process.exitCode = results.every((result) => result.holds) ? 0 : 1;

function table(): string {
  const rows = results.map((result) => [result.id, format(result.value), result.unit, boundOf(result)]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map(([id = '', value = '', unit = '', bound = '']) =>
    `${id.padEnd(widths[0] ?? 0)}  ${value.padStart(widths[1] ?? 0)}  ${unit.padEnd(widths[2] ?? 0)}  ${bound}`.trimEnd(),
  );
  return `${[...lines, '', machine].join('\n')}\n`;
}

function format(value: number): string {
  return value >= 1_000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

function boundOf({ atLeast, atMost, holds }: BenchResult): string {
  if (atLeast !== undefined) return `${holds ? 'holds' : 'FAILS'}: at least ${atLeast}`;
  if (atMost !== undefined) return `${holds ? 'holds' : 'FAILS'}: at most ${atMost}`;
  return '';
}
