/**
 * Every metric of the hub, in one table (design 8): what it is, in which labels, and the closed words that each label takes. docs/metrics.md
 * is written from it. A name, a type and a label are a contract, since alerts are written against them. Never a host, a fingerprint,
 * an address or a token in a label.
 */
import { closings, rungs } from '@rollcall/core/rungs';

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

/** Stands for every code of docs/errors.md. */
export const anyErrorCode = 'a code of errors.md';
export const anySecret = 'the name of a shared token';
export const anyVersion = 'the version of the program';

/** Of what ends within this long, and what has ended. */
export const certificateHorizonsMs = {
  '6h': 21_600_000,
  '1d': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
} as const;

const secret = ['master', anySecret];
/** All that is rotated. */
const rotated = [...secret, ...closings];
const rung = rungs;
/** docs/PROTOCOL.md, 8.3. */
const deliveryReasons = [
  ...['delivery_malformed', 'delivery_other_host', 'delivery_unknown_recipient', 'delivery_replayed'],
  ...['delivery_unknown_hub_key', 'delivery_bad_signature', 'delivery_unopenable', 'delivery_contradicts'],
  ...['disk_full', 'state_unwritable'],
];

export const metricTable = {
  rollcall_info: {
    type: 'gauge',
    help: '1, while the hub runs.',
    labels: { version: [anyVersion] },
  },
  rollcall_check_ok: {
    type: 'gauge',
    help: '1 where the hub finds that itself is well, else 0: what /readyz looks at.',
    labels: {
      check: [
        'database',
        'generation_store',
        'pin_store',
        'token_store',
        'weak_secrets',
        'rung_policy',
        'jobs',
        'hub_time',
        'certificate_life',
        'certificate_renewal',
      ],
    },
  },
  rollcall_heartbeats_total: {
    type: 'counter',
    help: 'Heartbeats by what they were answered.',
    labels: { result: ['ok', 'refused', 'internal', anyErrorCode] },
  },
  rollcall_heartbeat_duration_seconds: {
    type: 'histogram',
    help: 'How long the hub worked for a heartbeat that it answered, without the time that the body took to arrive.',
    labels: {},
  },
  rollcall_auth_total: {
    type: 'counter',
    help: 'Authentications of hosts by rung and result.',
    labels: { rung, result: ['ok', 'refused'] },
  },
  rollcall_token_hits_total: {
    type: 'counter',
    help: 'Bearers and shared tokens that this hub took, by the place of their version. Retiring ones during a rotation show who has not come along.',
    labels: { secret, kind: ['current', 'next', 'retiring'] },
  },
  rollcall_instances_total: {
    type: 'counter',
    help: 'Beats that were no plain next beat of the agent that spoke before. A clone is two machines with one identity.',
    labels: { kind: ['new', 'replay', 'superseded', 'clone', 'returned', 'behind', 'former_life'] },
  },
  rollcall_publications_total: {
    type: 'counter',
    help: 'Published wrap keys that moved no pin, by the reason.',
    labels: {
      result: ['agent_too_old', 'fleet_token', 'not_accepted', 'pending_overflow', 'trust_frozen', 'unusable_key'],
    },
  },
  rollcall_delivery_refusals_total: {
    type: 'counter',
    help: 'Deliveries that hosts said they refused, by their reason.',
    labels: { reason: [...deliveryReasons, anyErrorCode, 'other'] },
  },
  rollcall_clock_skew_seconds: {
    type: 'histogram',
    help: 'How far the clock of a host was from that of the hub, without sign, at each heartbeat. What the host says.',
    labels: {},
  },
  rollcall_hosts: {
    type: 'gauge',
    help: 'Hosts on the roll by status. The roll is the denominator of everything.',
    labels: { status: ['invited', 'active', 'suspended', 'evicted'] },
  },
  rollcall_hosts_fresh: {
    type: 'gauge',
    help: 'Hosts that were heard from lately. After a restart of the hub it begins at zero.',
    labels: {},
  },
  rollcall_hosts_by_rung: {
    type: 'gauge',
    help: 'Hosts by the rung of their last beat.',
    labels: { rung },
  },
  rollcall_rung_accepted: {
    type: 'gauge',
    help: '1 where the fleet accepts the rung, 0 where it was closed, or what was decided cannot be read.',
    labels: { rung },
  },
  rollcall_rung_exceptions: {
    type: 'gauge',
    help: 'Hosts for which something of their own was decided about the rung.',
    labels: { rung },
  },
  rollcall_hosts_without_usable_pin: {
    type: 'gauge',
    help: 'Hosts that nothing can be sealed to.',
    labels: {},
  },
  rollcall_hosts_not_proven: {
    type: 'gauge',
    help: 'Hosts that no verifier has seen with the current version.',
    labels: { secret },
  },
  rollcall_pending_pins: {
    type: 'gauge',
    help: 'Changed wrap keys that wait for a person: a reinstalled host, or a thief.',
    labels: {},
  },
  rollcall_deliveries_due: {
    type: 'gauge',
    help: 'Active hosts that have not proven the newest step that they are to take.',
    labels: { secret },
  },
  rollcall_rotation_phase: {
    type: 'gauge',
    help: '1 for the phase that the running rotation is in. All 0: none runs.',
    labels: {
      secret: rotated,
      phase: [
        'planned',
        'widening',
        'rolling',
        'proving',
        'narrowing',
        'done',
        'reverting',
        'withdrawing',
        'rolled_back',
      ],
    },
  },
  rollcall_rotation_blockers: {
    type: 'gauge',
    help: 'What holds the gate of the running rotation closed; `rollcall rotation status` names it.',
    labels: { secret: rotated },
  },
  rollcall_generation_verify_until_seconds: {
    type: 'gauge',
    help: 'When the previous generation of the master stops verifying, in Unix time; 0 where there is none.',
    labels: {},
  },
  rollcall_certificates_expiring: {
    type: 'gauge',
    help: 'Certificates that end within this long, or have ended.',
    labels: { kind: ['authority', 'hub'], within: Object.keys(certificateHorizonsMs) },
  },
  rollcall_job_failures_total: {
    type: 'counter',
    help: 'Rounds of what the hub does by itself that failed.',
    labels: { job: ['liveness', 'generations', 'roll', 'certificate', 'rotation', 'tokens', 'probes'] },
  },
  rollcall_job_failures_in_a_row: {
    type: 'gauge',
    help: 'Rounds that failed since the last one that did not. 0: it works.',
    labels: { job: ['liveness', 'generations', 'roll', 'certificate', 'rotation', 'tokens', 'probes'] },
  },
  rollcall_job_duration_seconds: {
    type: 'histogram',
    help: 'How long a round of what the hub does by itself took.',
    labels: { job: ['liveness', 'generations', 'roll', 'certificate', 'rotation', 'tokens', 'probes'] },
  },
} as const satisfies Readonly<Record<`rollcall_${string}`, MetricRow>>;

export type MetricName = keyof typeof metricTable;
