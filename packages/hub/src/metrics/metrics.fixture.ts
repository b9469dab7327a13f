/** For tests: a scrape, read back. */
import type { TestHub } from '../hub.fixture.ts';
import type { Jobs } from '../jobs/run-jobs.ts';
import { createSelfChecks } from '../self-checks.ts';
import type { MetricSources } from './collect-values.ts';
import { createMetrics } from './create-metrics.ts';

export interface Scrape {
  readonly text: string;
  /** Of a whole line without its value, as `rollcall_hosts{status="active"}`; `undefined` where there is none. */
  value(series: string): number | undefined;
  readonly series: readonly Series[];
  /** By name, as `# TYPE` says. */
  readonly types: ReadonlyMap<string, string>;
}

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export async function scrape(hub: TestHub, sources: Partial<MetricSources> = {}): Promise<Scrape> {
  const jobs: Pick<Jobs, 'states'> = { states: () => [] };
  const checks = createSelfChecks(hub, { areJobsAlive: () => true, certificate: { hasEnded: false, isLate: false } });
  return readScrape(await createMetrics(hub, { version: '0.1.0', checks, jobs, certificates: [], ...sources })());
}

export function readScrape(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '');
  const types = new Map(lines.flatMap((line) => (line.startsWith('# TYPE ') ? [typeOf(line)] : [])));
  const values = lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.split(/ (?=\S+$)/) as [string, string]);
  return {
    text,
    types,
    value: (series) => values.flatMap(([name, value]) => (name === series ? [Number(value)] : []))[0],
    series: values.map(([name, value]) => ({
      name: name.split('{')[0] ?? '',
      labels: Object.fromEntries(
        [...name.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label = '', word = '']) => [label, word]),
      ),
      value: Number(value),
    })),
  };
}

function typeOf(line: string): readonly [string, string] {
  const [, , name = '', type = ''] = line.split(' ');
  return [name, type];
}
