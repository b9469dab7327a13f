/** For each alert of deploy/prometheus a story in which it fires, and alone; and days on which none does. */

/** In the notation of `promtool test rules`, a value a minute. */
export type SeriesByName = Readonly<Record<string, string>>;

export interface Alert {
  readonly alert: string;
  readonly when: string;
  readonly at: string;
  readonly series: SeriesByName;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Quiet {
  readonly what: string;
  readonly at: string;
  readonly series: SeriesByName;
}

/** A hub with a hundred hosts on a good day. */
const well: SeriesByName = {
  'rollcall_info{version="0.1.0"}': '1x1440',
  'rollcall_check_ok{check="database"}': '1x1440',
  'rollcall_job_failures_in_a_row{job="rotation"}': '0x1440',
  'rollcall_hosts{status="active"}': '100x1440',
  rollcall_hosts_fresh: '100x1440',
  'rollcall_auth_total{rung="derived",result="ok"}': '0+600x1440',
  'rollcall_auth_total{rung="derived",result="refused"}': '0+1x1440',
  'rollcall_instances_total{kind="clone"}': '0x1440',
  rollcall_pending_pins: '0x1440',
  'rollcall_delivery_refusals_total{reason="disk_full"}': '0x1440',
  'rollcall_hosts_not_proven{secret="master"}': '0x1440',
  'rollcall_rotation_blockers{secret="master"}': '0x1440',
  'rollcall_rotation_phase{secret="master",phase="proving"}': '0x1440',
  'rollcall_token_hits_total{secret="master",kind="retiring"}': '0x1440',
  rollcall_generation_verify_until_seconds: '0x1440',
  'rollcall_certificates_expiring{kind="hub",within="7d"}': '0x1440',
  'rollcall_certificates_expiring{kind="authority",within="30d"}': '0x1440',
  'rollcall_heartbeat_duration_seconds_bucket{le="0.5"}': '0+600x1440',
  'rollcall_heartbeat_duration_seconds_bucket{le="+Inf"}': '0+600x1440',
  'rollcall_clock_skew_seconds_bucket{le="60"}': '0+600x1440',
  'rollcall_clock_skew_seconds_bucket{le="300"}': '0+600x1440',
  'rollcall_clock_skew_seconds_bucket{le="+Inf"}': '0+600x1440',
};

/** Of that day, with these changed. */
const with_ = (changes: SeriesByName): SeriesByName => ({ ...well, ...changes });

const page = { severity: 'page' };
const ticket = { severity: 'ticket' };

export const alertCases: readonly Alert[] = [
  {
    alert: 'RollcallHubGone',
    when: 'nothing was scraped for three minutes',
    at: '4m',
    series: { up: '0x10' },
    labels: page,
  },
  {
    alert: 'RollcallHubCheckFailed',
    when: 'the database did not answer for two minutes',
    at: '12m',
    series: with_({ 'rollcall_check_ok{check="database"}': '1x9 0x10' }),
    labels: { ...page, check: 'database' },
  },
  {
    alert: 'RollcallJobFails',
    when: 'the steps of rotations failed for five minutes',
    at: '16m',
    series: with_({ 'rollcall_job_failures_in_a_row{job="rotation"}': '0x9 12+12x10' }),
    labels: { ...page, job: 'rotation' },
  },
  {
    alert: 'RollcallHubSlow',
    when: 'two in a hundred heartbeats took more than half a second',
    at: '30m',
    series: with_({
      'rollcall_heartbeat_duration_seconds_bucket{le="0.5"}': '0+588x60',
      'rollcall_heartbeat_duration_seconds_bucket{le="1"}': '0+600x60',
      'rollcall_heartbeat_duration_seconds_bucket{le="+Inf"}': '0+600x60',
    }),
    labels: ticket,
  },
  {
    alert: 'RollcallCertificateEnds',
    when: 'the certificate of the listener has a week left',
    at: '10m',
    series: with_({ 'rollcall_certificates_expiring{kind="hub",within="7d"}': '1x60' }),
    labels: { ...ticket, kind: 'hub', within: '7d' },
  },
  {
    alert: 'RollcallAuthorityEnds',
    when: 'the authority has a month left',
    at: '10m',
    series: with_({ 'rollcall_certificates_expiring{kind="authority",within="30d"}': '1x60' }),
    labels: { ...page, kind: 'authority', within: '30d' },
  },
  {
    alert: 'RollcallMostHostsSilent',
    when: 'forty of a hundred were heard from',
    at: '15m',
    series: with_({ rollcall_hosts_fresh: '100x9 40x60' }),
    labels: page,
  },
  {
    alert: 'RollcallHostsSilent',
    when: 'one of a hundred was silent for an hour',
    at: '80m',
    series: with_({ rollcall_hosts_fresh: '100x9 99x120' }),
    labels: ticket,
  },
  {
    alert: 'RollcallManyRefusals',
    when: 'two requests a second were refused for ten minutes',
    at: '30m',
    series: with_({ 'rollcall_auth_total{rung="derived",result="refused"}': '0+120x60' }),
    labels: ticket,
  },
  {
    alert: 'RollcallClone',
    when: 'a clone was seen once, ten minutes ago',
    at: '20m',
    series: with_({ 'rollcall_instances_total{kind="clone"}': '0x10 1x60' }),
    labels: { ...page, kind: 'clone' },
  },
  {
    alert: 'RollcallPinPending',
    when: 'a changed key waits',
    at: '12m',
    series: with_({ rollcall_pending_pins: '0x9 1x60' }),
    labels: page,
  },
  {
    alert: 'RollcallDeliveriesRefused',
    when: 'a host says at each beat that its disk is full',
    at: '30m',
    series: with_({ 'rollcall_delivery_refusals_total{reason="disk_full"}': '0x9 1+6x60' }),
    labels: { ...ticket, reason: 'disk_full' },
  },
  {
    alert: 'RollcallClocksWrong',
    when: 'two in a hundred clocks are minutes off',
    at: '45m',
    series: with_({ 'rollcall_clock_skew_seconds_bucket{le="60"}': '0+588x60' }),
    labels: ticket,
  },
  {
    alert: 'RollcallGenerationEndsTooSoon',
    when: 'a host has not come along in the last day of the window',
    at: '30m',
    series: with_({
      rollcall_generation_verify_until_seconds: '80000x60',
      'rollcall_hosts_not_proven{secret="master"}': '1x60',
    }),
    labels: page,
  },
  {
    alert: 'RollcallRotationHeldUp',
    when: 'a gate was closed for six hours',
    at: '7h',
    series: with_({ 'rollcall_rotation_blockers{secret="master"}': '1x1440' }),
    labels: { ...ticket, secret: 'master' },
  },
  {
    alert: 'RollcallOldGenerationInUse',
    when: 'somebody still presents the old generation after everybody was seen with the new one',
    at: '3h',
    series: with_({
      'rollcall_token_hits_total{secret="master",kind="retiring"}': '0+1x240',
      'rollcall_rotation_phase{secret="master",phase="proving"}': '1x240',
    }),
    labels: { ...ticket, secret: 'master', kind: 'retiring' },
  },
];

export const quietCases: readonly Quiet[] = [
  { what: 'a day goes by on which nothing happens', at: '20h', series: well },
  {
    what: 'a rotation goes as it should, with a window of a week',
    at: '2h',
    series: with_({
      rollcall_generation_verify_until_seconds: '604800x240',
      'rollcall_hosts_not_proven{secret="master"}': '100-1x100 0x140',
      'rollcall_rotation_blockers{secret="master"}': '100-1x100 0x140',
      'rollcall_rotation_phase{secret="master",phase="proving"}': '0x100 1x140',
      'rollcall_token_hits_total{secret="master",kind="retiring"}': '0+600x60 36000x180',
    }),
  },
  {
    what: 'the hub restarts, and its hosts come back within two minutes',
    at: '12m',
    series: with_({
      rollcall_hosts_fresh: '100x9 _ 0 50 100x60',
      'rollcall_info{version="0.1.0"}': '1x9 _ 1x60',
      'rollcall_job_failures_in_a_row{job="rotation"}': '0x9 _ 3 0x60',
    }),
  },
  {
    what: 'the old window is over and a host that was left has not come',
    at: '30m',
    series: with_({
      rollcall_generation_verify_until_seconds: '600x60',
      'rollcall_hosts_not_proven{secret="master"}': '1x60',
    }),
  },
];
