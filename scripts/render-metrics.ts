/** docs/metrics.md, written from the one table of metrics. */

interface MetricRow {
  readonly type: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

export function renderMetrics(table: Readonly<Record<string, MetricRow>>): string {
  const rows = Object.entries(table).map(
    ([name, { type, help, labels }]) => `| \`${name}\` | ${type} | ${renderLabels(labels)} | ${cell(help)} |`,
  );
  return [
    '# Metrics',
    '',
    '<!-- Written by `npm run docs` from packages/wire/src/metrics.ts. Change that file, not this one. -->',
    '',
    'For whoever watches a hub. `GET /metrics` in plain HTTP, on a listener of its own: `127.0.0.1`, the port after that of the',
    'fleet, unless `--metrics HOST:PORT` says otherwise. Keep it from strangers: a scrape beside a guess would tell which token is',
    'about to go. `rollcall hub status` shows the address.',
    '',
    '```yaml',
    'scrape_configs:',
    '  - job_name: rollcall',
    '    static_configs: [{ targets: ["127.0.0.1:7444"] }]',
    'rule_files: [rollcall.rules.yaml]',
    '```',
    '',
    'Alerts for who is on call, each with what to do, stand in',
    '[`deploy/prometheus/rollcall.rules.yaml`](../deploy/prometheus/rollcall.rules.yaml); each is tested firing and silent.',
    '',
    'Names, types and labels are kept: what you write against them goes on working. Labels take only the words below. No host,',
    'fingerprint, address or token is ever in one. Where the store cannot be read, nothing is said of the roll, rather than',
    'zero: then `rollcall_check_ok` says so. What is counted begins at zero with each start of the hub.',
    '',
    '| metric | type | labels | what |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function renderLabels(labels: MetricRow['labels']): string {
  return Object.entries(labels)
    .map(
      ([label, words]) =>
        `\`${label}\`: ${words.map((word) => (word.includes(' ') ? word : `\`${word}\``)).join(', ')}`,
    )
    .join('<br>');
}

/** A vertical bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
