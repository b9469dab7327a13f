import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MetricRow, metricTable } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { renderMetrics } from '../../scripts/render-metrics.ts';
import { root } from './source-tree.ts';

const rows: readonly (readonly [string, MetricRow])[] = Object.entries(metricTable);

it('docs/metrics.md is what the table of metrics says (else: npm run docs)', () => {
  expect(readFileSync(join(root, 'docs/metrics.md'), 'utf8')).toBe(renderMetrics(metricTable));
});

it('would tell a row that came, went or changed', () => {
  const row: MetricRow = { type: 'gauge', help: 'a | b', labels: { job: ['x', 'a code'] } };
  const page = renderMetrics({ rollcall_x: row });
  expect(page).toContain('| `rollcall_x` | gauge | `job`: `x`, a code | a \\| b |');
  expect(renderMetrics({ rollcall_x: { ...row, type: 'counter' } })).not.toBe(page);
  expect(renderMetrics({})).not.toBe(page);
});

/** prometheus.io/docs/practices/naming: what promtool looks at too, where there is one. */
function faults(name: string, { type, help, labels }: MetricRow): readonly string[] {
  return [
    ...(/^rollcall_[a-z_]+$/.test(name) ? [] : ['name']),
    ...((type === 'counter') === name.endsWith('_total') ? [] : ['total']),
    ...(type === 'histogram' && !name.endsWith('_seconds') ? ['unit'] : []),
    ...(/_(?:ms|millis\w*|minutes|hours|days|kb|count|sum|bucket)$/.test(name) ? ['unit'] : []),
    ...(help.length > 10 && help.endsWith('.') ? [] : ['help']),
    ...(Object.keys(labels).some((label) => !/^[a-z]+$/.test(label) || label === 'le') ? ['label'] : []),
    ...(Object.keys(labels).some((label) => /host|token|fingerprint|address|tenant|instance/.test(label))
      ? ['secret']
      : []),
    ...(Object.values(labels).some((words) => words.length === 0 || words.length > 20) ? ['words'] : []),
  ];
}

describe('every metric', () => {
  it.each(rows)('%s is named and labelled as Prometheus wants it, and by no host', (name, row) => {
    expect(faults(name, row)).toEqual([]);
  });

  it.each<readonly [string, Partial<MetricRow>, string]>([
    ['rollcall_x', { type: 'counter' }, 'total'],
    ['rollcall_x_total', { type: 'gauge' }, 'total'],
    ['x', {}, 'name'],
    ['rollcall_x_ms', {}, 'unit'],
    ['rollcall_x', { type: 'histogram' }, 'unit'],
    ['rollcall_x', { help: 'X' }, 'help'],
    ['rollcall_x', { labels: { host: ['a'] } }, 'secret'],
    ['rollcall_x', { labels: { job: [] } }, 'words'],
  ])('would be caught: %s %j', (name, change, fault) => {
    expect(faults(name, { type: 'gauge', help: 'What it counts.', labels: {}, ...change })).toContain(fault);
  });
});
