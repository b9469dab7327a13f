/** Prometheus' own parser over a scrape of a running hub, and its rule engine over the alerts in deploy/prometheus. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../harness/child.ts';
import { findPromtool } from '../harness/debian-tools.ts';
import { enrolRawHost } from '../harness/raw-host.ts';
import { runTool, type ToolRan } from '../harness/tool.ts';
import { useFleet } from '../harness/use-fleet.ts';
import { type Alert, alertCases, type Quiet, quietCases } from './alert-cases.ts';

const { program = '', missing = '' } = await findPromtool();
if (program === '') console.warn(`promtool is not there, so neither metrics nor alerts are parsed by it: ${missing}`);

const rulesFile = join(root, 'deploy', 'prometheus', 'rollcall.rules.yaml');
const fleet = useFleet({ hubFlags: ['--beat', '200ms'] });

// Skipped where promtool is not installed and Debian's package cannot be had: there is no other parser of Prometheus.
describe.skipIf(program === '')('a scrape, as Prometheus reads it', () => {
  beforeAll(async () => {
    const host = await enrolRawHost(fleet(), 'web-1');
    await host.beat();
    await host.beat({ bearer: 'rcb_x' });
    await host.beat({ body: { refused: [{ secret: 'master', reason: 'disk_full' }] } });
    expect((await fleet().rollcall('rotation', 'start', 'master')).code).toBe(0);
  });

  it('is taken without a warning, and would not be with a metric of another style', async () => {
    const text = await fleet().metrics();
    expect(text).toContain('rollcall_rotation_phase{secret="master",phase="');
    expect(text.match(/^rollcall_\w+/gm)?.length).toBeGreaterThan(100);
    const checked = await promtool(['check', 'metrics'], text);
    expect([checked.code, checked.stdout.toString(), checked.stderr]).toEqual([0, '', '']);
    for (const bad of [
      '# TYPE rollcall_x counter\nrollcall_x 1\n',
      '# HELP rollcall_y_milliseconds Time\n# TYPE rollcall_y_milliseconds gauge\nrollcall_y_milliseconds 1\n',
      'rollcall_hosts{status="active"} one\n',
    ]) {
      expect((await promtool(['check', 'metrics'], `${text}\n${bad}`)).code).not.toBe(0);
    }
  });
});

// Skipped where promtool is not installed and Debian's package cannot be had: there is no other engine for these rules.
describe.skipIf(program === '')('the alerts', () => {
  it('are rules that Prometheus takes', async () => {
    const checked = await promtool(['check', 'rules', '--lint=all', '--lint-fatal', rulesFile]);
    expect([checked.code, checked.stderr]).toEqual([0, '']);
    const rules = readFileSync(rulesFile, 'utf8');
    const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
    expect(checked.stdout.toString()).toContain(`${names.length} rules found`);
    expect(alertCases.map(({ alert }) => alert)).toEqual(expect.arrayContaining(names));
  });

  it.each(alertCases.map((one) => [one.alert, one.when, one] as const))(
    '%s fires when %s',
    async (_alert, _when, one) => {
      const tested = await testRules(one);
      expect([tested.code, tested.code === 0 ? '' : `${tested.stdout}${tested.stderr}`]).toEqual([0, '']);
    },
  );

  it.each(quietCases.map((one) => [one.what, one] as const))('none fires while %s', async (_what, one) => {
    const tested = await testRules(one);
    expect([tested.code, tested.code === 0 ? '' : `${tested.stdout}${tested.stderr}`]).toEqual([0, '']);
  });

  it('ask only for metrics and words that the hub has', async () => {
    const text = await fleet().metrics();
    const asked = new Set(
      [...readFileSync(rulesFile, 'utf8').matchAll(/\b(rollcall_[a-z_]+)(?:\{([^}]*)\})?/g)].map(([whole]) => whole),
    );
    expect(asked.size).toBeGreaterThan(10);
    for (const selector of asked) {
      const [name = '', labels = ''] = selector.replace('}', '').split('{');
      const words = labels.split(',').filter((word) => word !== '');
      const lines = text.split('\n').filter((line) => new RegExp(`^${name}[ {]`).test(line));
      expect([selector, lines.some((line) => words.every((word) => line.includes(word)))]).toEqual([selector, true]);
    }
  });
});

function promtool(args: readonly string[], input = ''): Promise<ToolRan> {
  return runTool(program, args, { input });
}

/** JSON is YAML. All that fires is given, so that what is not named must not fire. */
async function testRules(one: Alert | Quiet): Promise<ToolRan> {
  const firing = 'alert' in one ? { alertname: one.alert, alertstate: 'firing', ...one.labels } : undefined;
  const labels = Object.entries(firing ?? {}).map(([label, word]) => `${label}="${word}"`);
  const test = {
    interval: '1m',
    input_series: Object.entries(one.series).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      {
        expr: 'ALERTS{alertstate="firing"}',
        eval_time: one.at,
        exp_samples: firing === undefined ? [] : [{ labels: `ALERTS{${labels.join(',')}}`, value: 1 }],
      },
    ],
  };
  const file = fleet().write('rules.test.json', JSON.stringify({ rule_files: [rulesFile], tests: [test] }));
  return promtool(['test', 'rules', file]);
}
