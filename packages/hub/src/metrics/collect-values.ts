/** What every metric is at this moment: counts from memory, and the roll at the source in one pass. */
import { isFresh } from '@rollcall/core/liveness';
import { type Gate, type Holder, lacksNothing, phases, type Rotation } from '@rollcall/core/rotation';
import { acceptedRungs, closings, noPolicy, rungs } from '@rollcall/core/rungs';
import { anyErrorCode, certificateHorizonsMs, type MetricName, metricTable } from '@rollcall/wire';
import type { CountName } from '../counts.ts';
import type { HistogramReading } from '../histogram.ts';
import type { Hub } from '../hub.ts';
import type { Jobs } from '../jobs/run-jobs.ts';
import { MASTER } from '../live-generations.ts';
import type { WalkView } from '../operations/rotation/subject.ts';
import { type RollView, viewRoll, viewRotation } from '../operations/rotation/view.ts';
import { viewClosing } from '../operations/rungs/closing-subject.ts';
import { observeHolders } from '../operations/token/observe-holders.ts';
import { viewToken } from '../operations/token/view-token.ts';
import type { RollEntry } from '../roll.ts';
import type { SelfChecks } from '../self-checks.ts';
import { findRunning } from '../store/rotations.ts';
import { listTokenNames } from '../store/tokens.ts';
import { orUnreadable } from '../store/trust-row.ts';

/** What the hub itself does not hold. */
export interface MetricSources {
  readonly version: string;
  readonly checks: SelfChecks;
  readonly jobs: Pick<Jobs, 'states'>;
  readonly certificates: readonly CertificateEnd[];
}

export interface CertificateEnd {
  readonly kind: 'authority' | 'hub';
  readonly endsAtMs: number;
}

export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number | HistogramReading;
}

export type MetricValues = Readonly<Record<MetricName, readonly Sample[]>>;

export async function collectValues(hub: Hub, sources: MetricSources): Promise<MetricValues> {
  const checks = await sources.checks();
  const states = sources.jobs.states();
  const ofJobs = (value: (state: (typeof states)[number]) => Sample['value']) =>
    states.map((state) => ({ labels: { job: state.name }, value: value(state) }));
  return {
    rollcall_info: [{ labels: { version: sources.version }, value: 1 }],
    rollcall_check_ok: checks.map(({ code, ok }) => ({ labels: { check: code }, value: ok ? 1 : 0 })),
    ...countValues(hub),
    ...(await rollValues(hub).catch(() => unreadableRoll)),
    rollcall_certificates_expiring: expiring(sources.certificates, hub.clock.now()),
    rollcall_job_failures_total: ofJobs(({ failures }) => failures),
    rollcall_job_failures_in_a_row: ofJobs(({ failuresInARow }) => failuresInARow),
    rollcall_job_duration_seconds: ofJobs(({ durations }) => durations.read()),
  };
}

function countValues({ counts, tokens, tokenHits }: Hub) {
  const of = (count: CountName, label: string, known: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    byLabel(label, known, counts.read(count)).map(({ labels, value }) => ({ labels: { ...more, ...labels }, value }));
  const { rollcall_heartbeats_total: beats, rollcall_publications_total: publications } = metricTable;
  const { rollcall_instances_total: instances, rollcall_delivery_refusals_total: refusals } = metricTable;
  const { rollcall_auth_total: auth, rollcall_token_hits_total: hits } = metricTable;
  return {
    rollcall_heartbeats_total: of('heartbeats', 'result', beats.labels.result),
    rollcall_heartbeat_duration_seconds: [{ value: counts.heartbeatSeconds.read() }],
    rollcall_auth_total: [
      ...of('auth', 'result', auth.labels.result, { rung: 'derived' }),
      ...of('host_token_auth', 'result', auth.labels.result, { rung: 'host-token' }),
      ...of('member_auth', 'result', auth.labels.result, { rung: 'fleet-token' }),
    ],
    rollcall_token_hits_total: [
      ...of('master_hits', 'kind', hits.labels.kind, { secret: MASTER }),
      ...tokens.secrets().flatMap((secret) =>
        hits.labels.kind.map((kind) => ({
          labels: { secret, kind },
          value: tokenHits.byKind().get(`${secret} ${kind}`) ?? 0,
        })),
      ),
    ],
    rollcall_instances_total: of('instances', 'kind', instances.labels.kind),
    rollcall_publications_total: of('publications', 'result', publications.labels.result),
    rollcall_delivery_refusals_total: of('delivery_refusals', 'reason', refusals.labels.reason),
    rollcall_clock_skew_seconds: [{ value: counts.skewSeconds.read() }],
  };
}

async function rollValues(hub: Hub): Promise<Pick<MetricValues, RollMetric>> {
  const rotation = (await findRunning(hub.db, hub.vault, MASTER)) ?? null;
  const { hosts, sweep, gate } = await viewOnce(hub, rotation);
  const entries = [...hub.roll.entries()];
  const now = hub.clock.monotonic();
  const isDue = (entry: RollEntry) => entry.status === 'active' && entry.ackedStep < entry.wantedStep;
  const { rollcall_hosts: byStatus, rollcall_hosts_by_rung: byRung } = metricTable;
  const ofMaster = (value: number): Sample => ({ labels: { secret: MASTER }, value });
  const tokens = await viewTokens(hub);
  const walks: readonly Walk[] = [...tokens, ...(await viewClosings(hub))];
  return {
    rollcall_hosts: byLabel('status', byStatus.labels.status, countEach(hosts.map(({ status }) => status))),
    rollcall_hosts_fresh: [
      { value: entries.filter((entry) => isFresh(entry.seenMonotonic, entry.intervalMs, now)).length },
    ],
    rollcall_hosts_by_rung: byLabel('rung', byRung.labels.rung, countEach(entries.flatMap(({ rung }) => rung ?? []))),
    rollcall_rung_accepted: rungs.map((rung) => ({
      labels: { rung },
      value: acceptedRungs(hub.roll.fleetRungs, noPolicy).includes(rung) ? 1 : 0,
    })),
    rollcall_rung_exceptions: rungs.map((rung) => ({
      labels: { rung },
      value: entries.filter((entry) => entry.rungs[rung] !== undefined).length,
    })),
    rollcall_hosts_without_usable_pin: [{ value: sweep.withoutUsablePin.length }],
    rollcall_hosts_not_proven: [
      ofMaster(sweep.notProvenOnCurrent.length),
      ...tokens.map(({ secret, holders }) => ({ labels: { secret }, value: holders.filter(isUnproven).length })),
    ],
    rollcall_pending_pins: [{ value: sweep.pendingPins }],
    rollcall_deliveries_due: [
      ofMaster(entries.filter(isDue).length),
      ...tokens.map(({ secret }) => ({
        labels: { secret },
        value: entries.filter((entry) => isTokenDue(entry, secret)).length,
      })),
    ],
    rollcall_rotation_phase: [
      ...phaseValues(MASTER, rotation),
      ...walks.flatMap(({ secret, view }) => phaseValues(secret, view?.rotation ?? null)),
    ],
    rollcall_rotation_blockers: [
      ofMaster(gate?.blockers.length ?? 0),
      ...walks.map(({ secret, view }) => ({ labels: { secret }, value: view?.gate.blockers.length ?? 0 })),
    ],
    rollcall_generation_verify_until_seconds: [{ value: (sweep.previousVerifiesUntilMs ?? 0) / 1_000 }],
  };
}

interface Walk {
  readonly secret: string;
  /** While a rotation runs. */
  readonly view?: WalkView;
}

interface TokenReading extends Walk {
  readonly holders: readonly Holder[];
}

async function viewTokens(hub: Hub): Promise<readonly TokenReading[]> {
  const readings: TokenReading[] = [];
  for (const secret of await listTokenNames(hub.db)) {
    // Of one that cannot be read nothing is said, which is not that nobody holds it; that it cannot is another metric.
    const reading = await orUnreadable(readToken(hub, secret));
    if (reading !== 'unreadable') readings.push(reading);
  }
  return readings;
}

async function readToken(hub: Hub, secret: string): Promise<TokenReading> {
  const running = await findRunning(hub.db, hub.vault, secret);
  if (running === undefined) return { secret, holders: await observeHolders(hub, hub.db, secret, null) };
  const view = await viewToken(hub, hub.db, running);
  return { secret, holders: view.holders, view };
}

async function viewClosings(hub: Hub): Promise<readonly Walk[]> {
  const walks: Walk[] = [];
  for (const secret of closings) {
    const reading = await orUnreadable(readClosing(hub, secret));
    if (reading !== 'unreadable') walks.push(reading);
  }
  return walks;
}

async function readClosing(hub: Hub, secret: string): Promise<Walk> {
  const running = await findRunning(hub.db, hub.vault, secret);
  return running === undefined ? { secret } : { secret, view: await viewClosing(hub, hub.db, running) };
}

/** Nobody has seen it send what it is told to send. */
function isUnproven(holder: Holder): boolean {
  return holder.presents && !lacksNothing(holder) && holder.provenVersion === null;
}

function isTokenDue({ status, tokens }: RollEntry, secret: string): boolean {
  const wanted = tokens.find((token) => token.secret === secret)?.wanted;
  return status === 'active' && wanted !== undefined && wanted.ackedStep < wanted.step;
}

function phaseValues(secret: string, rotation: Rotation | null): readonly Sample[] {
  return Object.keys(phases).map((phase) => ({ labels: { secret, phase }, value: rotation?.phase === phase ? 1 : 0 }));
}

type RollMetric = keyof typeof unreadableRoll;

/** Where the store cannot be read nothing is said of the roll, which is not that it is empty (I10); that it cannot is another metric. */
const unreadableRoll = {
  rollcall_hosts: [],
  rollcall_hosts_fresh: [],
  rollcall_hosts_by_rung: [],
  rollcall_rung_accepted: [],
  rollcall_rung_exceptions: [],
  rollcall_hosts_without_usable_pin: [],
  rollcall_hosts_not_proven: [],
  rollcall_pending_pins: [],
  rollcall_deliveries_due: [],
  rollcall_rotation_phase: [],
  rollcall_rotation_blockers: [],
  rollcall_generation_verify_until_seconds: [],
} satisfies Partial<MetricValues>;

async function viewOnce(hub: Hub, rotation: Rotation | null): Promise<RollView & { readonly gate?: Gate }> {
  return rotation === null ? viewRoll(hub, hub.db, null) : viewRotation(hub, hub.db, rotation);
}

function expiring(certificates: readonly CertificateEnd[], nowMs: number): readonly Sample[] {
  return metricTable.rollcall_certificates_expiring.labels.kind.flatMap((kind) =>
    Object.entries(certificateHorizonsMs).map(([within, horizonMs]) => ({
      labels: { kind, within },
      value: certificates.filter((one) => one.kind === kind && one.endsAtMs - nowMs <= horizonMs).length,
    })),
  );
}

/** A word that was not counted yet is there with a zero: of a line that appears with its first event no rise is seen. */
function byLabel(label: string, known: readonly string[], counted: ReadonlyMap<string, number>) {
  const words = new Set([...known.filter((word) => word !== anyErrorCode), ...counted.keys()]);
  return [...words].map((word) => ({ labels: { [label]: word }, value: counted.get(word) ?? 0 }));
}

function countEach(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
