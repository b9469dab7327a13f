/** The metrics as a contract (design 8): what alerts are written against is there, of its type, and moves by the act that it is about. */
import type { IncomingMessage } from 'node:http';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { errorTable } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Rung } from '@rollcall/core/rungs';
import { anyErrorCode, anySecret, anyVersion, type MetricRow, metricTable } from '@rollcall/wire';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { authenticateMember } from '../authenticate.ts';
import { addExisting, createWrapKey, enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { createTestHub, DAY_MS, HOUR_MS, operator, type TestHub } from '../hub.fixture.ts';
import { runJobs } from '../jobs/run-jobs.ts';
import { addHost } from '../operations/add-host.ts';
import { createSecret } from '../operations/create-secret.ts';
import { evictHost } from '../operations/end-host.ts';
import { issueHostToken } from '../operations/issue-host-token.ts';
import { retireRotation } from '../operations/rotation/retire.ts';
import { startRotation, stepMaster } from '../operations/rotation/walk.ts';
import { decideRungRule } from '../operations/rungs/decide-rung.ts';
import { suspendHost } from '../operations/suspend-host.ts';
import { type Scrape, scrape } from './metrics.fixture.ts';

/** Design 8, "Metrics", word by word. */
const contract: Readonly<Record<string, readonly [type: string, ...labels: string[]]>> = {
  rollcall_heartbeats_total: ['counter', 'result'],
  rollcall_auth_total: ['counter', 'rung', 'result'],
  rollcall_token_hits_total: ['counter', 'secret', 'kind'],
  rollcall_hosts: ['gauge', 'status'],
  rollcall_hosts_fresh: ['gauge'],
  rollcall_hosts_without_usable_pin: ['gauge'],
  rollcall_hosts_not_proven: ['gauge', 'secret'],
  rollcall_hosts_by_rung: ['gauge', 'rung'],
  rollcall_pending_pins: ['gauge'],
  rollcall_deliveries_due: ['gauge', 'secret'],
  rollcall_delivery_refusals_total: ['counter', 'reason'],
  rollcall_rotation_phase: ['gauge', 'secret', 'phase'],
  rollcall_rotation_blockers: ['gauge', 'secret'],
  rollcall_generation_verify_until_seconds: ['gauge'],
  rollcall_certificates_expiring: ['gauge', 'within'],
  rollcall_clock_skew_seconds: ['histogram'],
  rollcall_heartbeat_duration_seconds: ['histogram'],
  rollcall_job_duration_seconds: ['histogram', 'job'],
};
/** Whose subject is not built yet. */
const later = ['rollcall_placements_total'];

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

const rotate = () => startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
const TOKEN = 'the-token-that-the-fleet-has-had-for-years';
async function bringToken(): Promise<void> {
  await createSecret(hub, { name: 'fleet', value: encodeBase64url(utf8(TOKEN)), holders: ['all'] }, operator);
}
/** The hub probes itself in vain here, and that is the one blocker: the host has no listener. */
async function rotateToken(): Promise<void> {
  const wish = { reason: 'planned', leave: [], narrowByMs: null, auto: 'off', batch: 1 } as const;
  await startRotation(hub, { secret: 'fleet', ...wish }, operator);
}
async function sendToken(token: string): Promise<unknown> {
  return authenticateMember(hub, { rawHeaders: ['X-Node-Token', token] } as IncomingMessage, 'ask-who-i-am');
}
async function beatByOwnToken(): Promise<unknown> {
  return host.beat(hub, { bearer: (await issueHostToken(hub, 'agent-7', operator)).token });
}
async function refuseRung(rung: Rung, only?: string): Promise<unknown> {
  const of = only === undefined ? {} : { host: only };
  return decideRungRule(hub, rung, { isAccepted: false, reason: 'x', ...of }, operator);
}
async function closeRung(): Promise<void> {
  const wish = { reason: 'planned', leave: [], narrowByMs: null, auto: 'off' } as const;
  await startRotation(hub, { secret: 'rung:fleet-token', ...wish }, operator);
}
async function step(): Promise<void> {
  while (await stepMaster(hub));
}

describe('what design 8 names', () => {
  it.each(Object.entries(contract))('%s is %j', async (name, [type, ...labels]) => {
    const row: MetricRow | undefined = metricTable[name as keyof typeof metricTable];
    expect(row?.type).toBe(type);
    // One may be added, and none taken away.
    expect(Object.keys(row?.labels ?? {})).toEqual(expect.arrayContaining(labels));
    expect((await scrape(hub)).types.get(name)).toBe(type);
  });

  it('is not said of what there is not', () => {
    expect(later.filter((name) => name in metricTable)).toEqual([]);
  });
});

type Act = () => Promise<unknown>;
const code = (error: unknown) => (error as { code?: string }).code;
const refused = (act: Promise<unknown>) => act.then(() => Promise.reject(new Error('it was not refused')), code);

describe('moves by the act that it is about:', () => {
  // biome-ignore format: a table
  it.each<readonly [series: string, by: number, act: Act]>([
    ['rollcall_auth_total{rung="derived",result="ok"}', 1, () => host.beat(hub)],
    ['rollcall_auth_total{rung="derived",result="refused"}', 1, () => refused(host.beat(hub, { bearer: 'rcb_x' }))],
    ['rollcall_token_hits_total{secret="master",kind="current"}', 1, () => host.beat(hub)],
    ['rollcall_token_hits_total{secret="master",kind="retiring"}', 1, async () => { await rotate(); await host.beat(hub); }],
    ['rollcall_hosts{status="invited"}', 1, () => addHost(hub, { host: 'agent-8' }, operator)],
    ['rollcall_hosts{status="active"}', 1, () => addExisting(hub, 'agent-8')],
    ['rollcall_hosts{status="suspended"}', 1, () => suspendHost(hub, 'agent-7', operator)],
    ['rollcall_hosts{status="active"}', -1, () => suspendHost(hub, 'agent-7', operator)],
    ['rollcall_hosts{status="evicted"}', 1, () => evictHost(hub, 'agent-7', false, operator)],
    ['rollcall_hosts_fresh', -1, () => hub.wall.advance(limits.freshMinMs + 1)],
    ['rollcall_hosts_by_rung{rung="derived"}', 1, () => enrolNew(hub, 'agent-8')],
    ['rollcall_auth_total{rung="host-token",result="ok"}', 1, beatByOwnToken],
    ['rollcall_auth_total{rung="host-token",result="refused"}', 1, () => refused(host.beat(hub, { bearer: 'rch_x' }))],
    ['rollcall_hosts_by_rung{rung="host-token"}', 1, beatByOwnToken],
    ['rollcall_rung_accepted{rung="fleet-token"}', -1, () => refuseRung('fleet-token')],
    ['rollcall_rung_accepted{rung="derived"}', 0, () => refuseRung('fleet-token')],
    ['rollcall_rung_exceptions{rung="fleet-token"}', 1, () => refuseRung('fleet-token', 'agent-7')],
    ['rollcall_rung_exceptions{rung="fleet-token"}', 0, () => refuseRung('fleet-token')],
    ['rollcall_check_ok{check="rung_policy"}', -1, async () => { await refuseRung('fleet-token'); hub.tamper('update rung_rules set accepted = 1'); await hub.roll.reloadAll(); }],
    ['rollcall_hosts_without_usable_pin', 1, () => addHost(hub, { host: 'agent-8' }, operator)],
    ['rollcall_hosts_not_proven{secret="master"}', 1, rotate],
    ['rollcall_pending_pins', 1, () => host.beat(hub, { key: createWrapKey() })],
    ['rollcall_deliveries_due{secret="master"}', 1, async () => { await rotate(); await step(); }],
    ['rollcall_delivery_refusals_total{reason="disk_full"}', 1, () => host.beat(hub, { body: { refused: [{ secret: 'master', reason: 'disk_full' }] } })],
    ['rollcall_rotation_phase{secret="master",phase="widening"}', 1, rotate],
    ['rollcall_rotation_phase{secret="rung:fleet-token",phase="widening"}', 1, closeRung],
    ['rollcall_rotation_phase{secret="rung:host-token",phase="widening"}', 0, closeRung],
    ['rollcall_rotation_blockers{secret="rung:fleet-token"}', 1, async () => { await refuseRung('derived', 'agent-7'); await refuseRung('host-token', 'agent-7'); await closeRung(); }],
    ['rollcall_rotation_blockers{secret="master"}', 1, async () => { await rotate(); await step(); }],
    ['rollcall_instances_total{kind="new"}', 1, () => { host.newInstance(); return host.beat(hub); }],
    ['rollcall_instances_total{kind="replay"}', 1, () => { host.seq -= 1; return host.beat(hub); }],
    ['rollcall_publications_total{result="unusable_key"}', 1, () => host.beat(hub, { body: { wrapKey: { suite: 'x25519', public: 'A'.repeat(43) } } })],
    ['rollcall_clock_skew_seconds_count', 1, () => host.beat(hub)],
    ['rollcall_clock_skew_seconds_sum', 90, () => host.beat(hub, { body: { sentAt: new Date(hub.wall.now() - 90_000).toISOString() } })],
    ['rollcall_clock_skew_seconds_sum', 90, () => host.beat(hub, { body: { sentAt: new Date(hub.wall.now() + 90_000).toISOString() } })],
    ['rollcall_clock_skew_seconds_bucket{le="60"}', 0, () => host.beat(hub, { body: { sentAt: new Date(hub.wall.now() + 90_000).toISOString() } })],
    ['rollcall_clock_skew_seconds_bucket{le="300"}', 1, () => host.beat(hub, { body: { sentAt: new Date(hub.wall.now() + 90_000).toISOString() } })],
    ['rollcall_check_ok{check="hub_time"}', -1, () => { hub.wall.setWall(hub.wall.now() + DAY_MS); return hub.wall.advance(0); }],
    ['rollcall_check_ok{check="pin_store"}', -1, async () => { hub.tamper('update pins set since = since + 1'); await hub.roll.reloadAll(); }],
  ])('%s, by %d', moves);

  // biome-ignore format: a table
  it.each<readonly [series: string, by: number, act: Act]>([
    ['rollcall_auth_total{rung="fleet-token",result="ok"}', 1, () => sendToken(TOKEN)],
    ['rollcall_auth_total{rung="fleet-token",result="refused"}', 1, () => refused(sendToken('x'))],
    ['rollcall_token_hits_total{secret="fleet",kind="current"}', 1, async () => { await host.beat(hub); await host.beat(hub); }],
    ['rollcall_token_hits_total{secret="fleet",kind="retiring"}', 0, () => host.beat(hub)],
    ['rollcall_deliveries_due{secret="fleet"}', -1, async () => { await host.beat(hub); await host.beat(hub); }],
    ['rollcall_hosts_not_proven{secret="fleet"}', -1, async () => { await host.beat(hub); await host.beat(hub); }],
    ['rollcall_rotation_phase{secret="fleet",phase="widening"}', 1, rotateToken],
    ['rollcall_rotation_blockers{secret="fleet"}', 1, rotateToken],
    ['rollcall_check_ok{check="token_store"}', -1, () => { hub.tamper('update tokens set created_at = created_at + 1'); return hub.tokens.reload(); }],
  ])('of a shared token: %s, by %d', async (series, by, act) => {
    await bringToken();
    await moves(series, by, act);
  });

  async function moves(series: string, by: number, act: Act): Promise<void> {
    const before = (await scrape(hub)).value(series);
    await act();
    const after = (await scrape(hub)).value(series);
    // There before the first event: of a line that appears with it no rise is seen.
    expect([typeof before, after]).toEqual(['number', (before ?? 0) + by]);
  }

  it('rollcall_generation_verify_until_seconds, from nothing to the end of the window and back', async () => {
    const series = 'rollcall_generation_verify_until_seconds';
    expect((await scrape(hub)).value(series)).toBe(0);
    await rotate();
    expect((await scrape(hub)).value(series)).toBe((hub.wall.now() + hub.settings.verifyWindowMs) / 1_000);
    await step();
    for (let turn = 0; turn < 4; turn += 1) {
      await host.beat(hub);
      await step();
    }
    await retireRotation(hub, 'master', { now: true, leave: [] }, operator);
    await step();
    for (let turn = 0; turn < 4; turn += 1) {
      await host.beat(hub);
      await step();
    }
    expect((await scrape(hub)).value('rollcall_hosts_not_proven{secret="master"}')).toBe(0);
    expect((await scrape(hub)).value(series)).toBe(0);
  });

  it('rollcall_certificates_expiring, cumulatively, and of those that have ended too', async () => {
    const ends = (...inMs: number[]) => inMs.map((ms) => ({ kind: 'hub' as const, endsAtMs: hub.wall.now() + ms }));
    const counts = async (...inMs: number[]) => {
      const { value } = await scrape(hub, { certificates: ends(...inMs) });
      return ['6h', '1d', '7d', '30d'].map((within) =>
        value(`rollcall_certificates_expiring{kind="hub",within="${within}"}`),
      );
    };
    expect(await counts()).toEqual([0, 0, 0, 0]);
    expect(await counts(40 * DAY_MS)).toEqual([0, 0, 0, 0]);
    expect(await counts(8 * DAY_MS, 2 * HOUR_MS)).toEqual([1, 1, 1, 2]);
    expect(await counts(-DAY_MS, 23 * HOUR_MS)).toEqual([1, 2, 2, 2]);
  });

  it('those of jobs, by rounds that fail, and by those that work again', async () => {
    const jobs = runJobs(hub, hub.wall, { renewIfDue: () => undefined });
    onTestFinished(() => jobs.stop());
    const pass = async (ms: number) => {
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
      await hub.wall.advance(ms);
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    };
    const of = async (metric: string) =>
      (await scrape(hub, { jobs })).value(`rollcall_job_${metric}{job="generations"}`);
    await pass(0);
    expect([await of('failures_total'), await of('failures_in_a_row'), await of('duration_seconds_count')]).toEqual([
      0, 0, 1,
    ]);
    hub.tamper('update generations set created_at = created_at + 1');
    await pass(limits.storePollMs);
    await pass(limits.jobRetryFirstMs);
    expect([await of('failures_total'), await of('failures_in_a_row')]).toEqual([2, 2]);
    hub.tamper('update generations set created_at = created_at - 1');
    await pass(limits.jobRetryMaxMs);
    expect([await of('failures_total'), await of('failures_in_a_row')]).toEqual([2, 0]);
  });

  it('is of this moment at the first scrape, and not of the one before', async () => {
    await addHost(hub, { host: 'agent-8' }, operator);
    expect((await scrape(hub)).value('rollcall_hosts{status="invited"}')).toBe(1);
  });
});

describe('a store that cannot be read', () => {
  it('takes away what is said of the roll, rather than to say zero, and leaves what says so', async () => {
    expect((await scrape(hub)).value('rollcall_hosts{status="active"}')).toBe(1);
    hub.tamper('update generations set created_at = created_at + 1');
    const { value, series } = await scrape(hub);
    expect(
      series.filter(({ name }) => /^rollcall_(?:hosts|pending|deliveries|rotation|generation)/.test(name)),
    ).toEqual([]);
    expect(value('rollcall_check_ok{check="generation_store"}')).toBe(0);
    expect(value('rollcall_check_ok{check="database"}')).toBe(1);
    expect(value('rollcall_auth_total{rung="derived",result="ok"}')).toBeGreaterThan(0);
  });
});

describe('labels', () => {
  it('take only the words of the table, whatever strangers and hosts send', async () => {
    const words = ['stranger-1', 'x'.repeat(64), '"} 1\nrollcall_evil 1', 'agent-7', 'constructor', '__proto__'];
    const before = await scrape(hub);
    for (const word of words) {
      await refused(host.beat(hub, { bearer: word }));
      await refused(host.beat(hub, { bearer: thiefBearer(hub, 'agent-8', 1, 1) }));
      const body = {
        refused: [{ secret: word, reason: word }],
        agent: { version: word },
        wrapKey: { suite: word, public: word },
        startup: word as 'fresh',
        sentAt: word,
      };
      await host.beat(hub, { body });
    }
    const after = await scrape(hub);
    expect(strangeWords(after)).toEqual([]);
    for (const word of words) expect(after.text).not.toContain(word === '__proto__' ? word : `"${word}"`);
    expect(after.text).not.toMatch(/agent-7|192\.0\.2\.1|rcb_/);
    expect(new Set(after.series.map(({ name }) => name))).toEqual(new Set(before.series.map(({ name }) => name)));
    // And something was counted of all that.
    expect(after.value('rollcall_delivery_refusals_total{reason="other"}')).toBe(words.length);
  });

  it('are looked at by a check that would see another word', async () => {
    const good = await scrape(hub);
    const series = [...good.series, { name: 'rollcall_hosts', labels: { status: 'agent-7' }, value: 1 }];
    expect(strangeWords({ ...good, series })).toEqual(['rollcall_hosts status agent-7']);
    const other = [...good.series, { name: 'rollcall_hosts', labels: { host: 'active' }, value: 1 }];
    expect(strangeWords({ ...good, series: other })).toEqual(['rollcall_hosts host active']);
  });
});

function strangeWords({ series }: Scrape): readonly string[] {
  return series.flatMap(({ name, labels }) =>
    Object.entries(labels)
      .filter(([label, word]) => !isOfTable(name, label, word))
      .map(([label, word]) => `${name} ${label} ${word}`),
  );
}

function isOfTable(name: string, label: string, word: string): boolean {
  const ofHistogram = name.replace(/_(?:bucket|sum|count)$/, '');
  const row = (metricTable as Readonly<Record<string, MetricRow>>)[name in metricTable ? name : ofHistogram];
  if (row?.type === 'histogram' && label === 'le') return /^(?:\d+(?:\.\d+)?|\+Inf)$/.test(word);
  const known = row?.labels[label] ?? [];
  if (known.includes(anyErrorCode) && Object.hasOwn(errorTable, word)) return true;
  if (known.includes(anySecret) && word === 'fleet') return true;
  if (known.includes(anyVersion)) return /^\d+\.\d+\.\d+$/.test(word);
  return known.includes(word);
}
