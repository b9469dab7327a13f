/** Prometheus metrics: collected when they are scraped, from plain numbers (design 8). */

import { type MetricName, type MetricRow, metricTable } from '@rollcall/wire';
import { type Metric, Registry } from 'prom-client';
import type { HistogramReading } from '../histogram.ts';
import type { Hub } from '../hub.ts';
import { collectValues, type MetricSources, type MetricValues, type Sample } from './collect-values.ts';

/** Returns the text exposition. */
export function createMetrics(hub: Hub, sources: MetricSources): () => Promise<string> {
  return async () => {
    const values = await collectValues(hub, sources);
    const registry = new Registry();
    for (const name of names) registry.registerMetric(toMetric(name, values));
    return registry.metrics();
  };
}

const names = Object.keys(metricTable) as MetricName[];

/** One that was collected already: the library's own counters and histograms can only be counted up. */
function toMetric(name: MetricName, all: MetricValues): Metric {
  const { type, help }: MetricRow = metricTable[name];
  const values = all[name].flatMap((sample) => toLines(name, sample));
  const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values }) };
  return metric as unknown as Metric;
}

interface Line {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

function toLines(name: MetricName, { labels = {}, value }: Sample): readonly Line[] {
  return typeof value === 'number' ? [{ labels, value }] : toHistogramLines(name, labels, value);
}

function toHistogramLines(name: MetricName, labels: Line['labels'], reading: HistogramReading): readonly Line[] {
  return [
    ...reading.buckets.map(({ le, count }) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le: le === Number.POSITIVE_INFINITY ? '+Inf' : le },
      value: count,
    })),
    { metricName: `${name}_sum`, labels, value: reading.sum },
    { metricName: `${name}_count`, labels, value: reading.count },
  ];
}
