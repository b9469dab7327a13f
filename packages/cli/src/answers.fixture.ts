/** Answers of a hub as tests give them: a fleet with a bit of everything. */
import type {
  AcceptFirstUseAnswer,
  AgentStatusAnswer,
  AuditRecord,
  ExposureAnswer,
  HostRow,
  HubStatusAnswer,
  ListRungsAnswer,
  PendingPin,
  ReadinessAnswer,
  RotationStatus,
  SecretRow,
  ShowHostAnswer,
} from '@rollcall/wire';
import { at } from './transcript.fixture.ts';

export const PINNED: string = 'a1b2c3d4'.repeat(8);
export const NEW: string = '9f8e7d6c'.repeat(8);
/** The longest id that looks like one. */
export const LONG_ID = 'build-runner-eu-1b-rack42-unit07';
export const OPERATOR_TOKEN = `rco_${'Ab0_'.repeat(12)}`;
export const HOST_TOKEN = `rch_${'Ab0_'.repeat(12)}`;
export const TOKEN: string = `rce_${'Ab0_-'.repeat(60)}`;

export const hubStatus: HubStatusAnswer = {
  version: '0.1.0',
  startedAt: at(-7_200),
  time: at(0),
  hubRoot: {
    v: 1,
    trustDomain: 'rollcall.internal',
    root: 'R'.repeat(43),
    spki: ['S'.repeat(43)],
    hubs: ['https://127.0.0.1:7443'],
  },
  hubKey: { kid: 'c0ffee00'.repeat(8), serial: 2 },
  fleetAddress: '127.0.0.1:7443',
  metricsAddress: '127.0.0.1:9464',
  checks: [
    { name: 'database', ok: true, detail: 'SQLite 3.51.3, WAL, synchronous FULL' },
    {
      name: 'certificate_life',
      ok: false,
      detail: 'The certificate of the hub ends in 2 d, and nothing has renewed it. See the log for the reason.',
    },
  ],
};

export const ready: ReadinessAnswer = {
  ready: true,
  safeToRetire: { master: false },
  retireNow: { master: false },
  examined: 12,
  hostsNotProvenOnCurrent: 0,
  hostsUnattributed: 0,
  hostsWithoutUsablePin: 0,
  hostsUnusableKey: 0,
  hostsHoldingMaster: 0,
  pendingPins: 0,
  previousVerifiesUntil: null,
  problems: [],
};

export const notReady: ReadinessAnswer = {
  ...ready,
  ready: false,
  examined: 120,
  hostsNotProvenOnCurrent: 100,
  pendingPins: 1,
  previousVerifiesUntil: at(6 * 86_400),
  problems: [
    {
      code: 'not_proven_on_current',
      hosts: Array.from({ length: 100 }, (_, n) => `${LONG_ID}-${n}`),
      hint: 'No verifier has seen them use the current version: wake or enrol them, or `rollcall host remove`.',
    },
    { code: 'pin_pending', hosts: ['agent-7'], hint: 'Another key was published for them: see `rollcall pin list`.' },
  ],
};

export const host: HostRow = {
  id: 'agent-7',
  status: 'active',
  reach: 'pull',
  rung: 'derived',
  fresh: true,
  lastSeenAt: at(-3),
  pin: { fingerprint: PINNED, anchor: 'enrolment' },
  pending: false,
  life: 2,
  proven: { master: { epoch: 1, version: 4 } },
  skewMs: -120,
  flags: [],
};

export const hosts: HostRow[] = [
  host,
  {
    ...host,
    id: LONG_ID,
    rung: 'fleet-token',
    fresh: false,
    lastSeenAt: at(-9_000),
    pending: true,
    flags: ['clone', 'lower_rung_seen'],
  },
  {
    ...host,
    id: 'x'.repeat(128),
    status: 'suspended',
    reach: 'push',
    pin: { fingerprint: PINNED, anchor: 'first-use' },
  },
  {
    ...host,
    id: 'new-1',
    status: 'invited',
    rung: null,
    fresh: false,
    lastSeenAt: null,
    pin: null,
    proven: {},
    skewMs: null,
  },
];

export const shownHost: ShowHostAnswer = {
  host: { ...host, id: LONG_ID, pending: true, flags: ['clone'] },
  address: '10.0.0.7:7444',
  seenFrom: '10.0.0.7:51234',
  agentVersion: '0.1.0',
  addedAt: at(-400_000),
  assignments: [
    { secret: 'master', wanted: { epoch: 1, step: 9 }, acked: { epoch: 1, step: 8 }, accept: [3, 4], present: 4 },
    { secret: 'ci-token', wanted: { epoch: 1, step: 1 }, acked: null, accept: [1], present: 1 },
  ],
  released: [{ secret: 'deploy-token', wanted: { epoch: 1, step: 4 }, acked: { epoch: 1, step: 3 } }],
  tokens: [
    { id: '5f0c2a91', issuedAt: at(-300_000), seenAt: at(-299_000) },
    { id: '00d1e2f3', issuedAt: at(-60), seenAt: null },
  ],
  rungs: [
    { rung: 'fleet-token', accepted: false, decidedFor: 'host', reason: 'It has climbed.', since: at(-7_200) },
    { rung: 'derived', accepted: true, decidedFor: 'nobody', reason: 'Open since the beginning.', since: null },
  ],
  refused: [{ secret: 'master', reason: 'delivery_unopenable' }],
  unreadable: [],
};

export const listedRungs: ListRungsAnswer = {
  rungs: [
    {
      rung: 'fleet-token',
      accepted: false,
      decidedFor: 'fleet',
      reason: 'Every host has climbed.',
      since: at(-7_200),
      hosts: 1,
    },
    {
      rung: 'host-token',
      accepted: null,
      decidedFor: 'fleet',
      reason: 'What was decided cannot be read, so nobody is let in by this rung until it is decided anew.',
      since: null,
      hosts: 2,
    },
    { rung: 'derived', accepted: true, decidedFor: 'nobody', reason: 'Open.', since: null, hosts: 6 },
  ],
  neverHeard: 3,
  examined: 12,
  exceptions: [
    {
      host: LONG_ID,
      rung: 'fleet-token',
      accepted: true,
      decidedFor: 'host',
      reason: 'Its agent is mended on Monday.',
      since: at(-60),
    },
  ],
};

export const pending: PendingPin = {
  host: LONG_ID,
  pinned: PINNED,
  new: NEW,
  firstSeenAt: at(-600),
  lastSeenAt: at(-2),
  evidence: {
    pinnedKeyLastSeenAt: at(-610),
    pinnedKeyStillPublishing: false,
    instancesAlternate: false,
    addressThen: '10.0.0.7:51234',
    addressNow: '10.0.0.99:40000',
    beatsWithNewKey: 60,
    claims: { startup: 'fresh' },
  },
};

export const pendingBad: PendingPin = {
  ...pending,
  host: 'agent-7',
  evidence: {
    ...pending.evidence,
    pinnedKeyStillPublishing: true,
    instancesAlternate: true,
    addressThen: null,
    claims: { startup: null },
  },
};

export const exposure: ExposureAnswer = {
  exposed: 2,
  hosts: [
    {
      id: LONG_ID,
      why: 'two_keys',
      fingerprint: NEW,
      address: '2001:db8:1234:5678:9abc:def0:1234:5678',
      firstSeenAt: at(-3_600),
    },
    { id: 'old-1', why: 'never_seen', fingerprint: null, address: null, firstSeenAt: null },
  ],
  eligible: [{ id: 'agent-9', fingerprint: NEW }],
  examined: 12,
  firstUse: { until: null, hosts: 0 },
};

export const accepted: AcceptFirstUseAnswer = { until: at(86_400), accepted: exposure.eligible, exposed: 2 };

export const secret: SecretRow = {
  name: 'master',
  versions: [
    { version: 3, scheme: 'hkdf', state: 'previous', createdAt: at(-9_000_000), verifyUntil: at(6 * 86_400) },
    { version: 4, scheme: 'hkdf', state: 'current', createdAt: at(-86_400), verifyUntil: null },
  ],
};

export const rolling: RotationStatus = {
  rotation: {
    id: 'rot-01JDXQ8M7V3N2K5P',
    secret: 'master',
    from: 3,
    to: 4,
    phase: 'rolling',
    reason: 'planned',
    startedAt: at(-180),
    left: [],
    pausedBecause: null,
  },
  gate: {
    open: false,
    blockers: [
      {
        member: LONG_ID,
        missing: 'proof_of_new',
        since: at(-120),
        hint: 'It has not been seen since the rotation began: wake it, or go on without it (--leave). It comes back by recovery.',
      },
      ...Array.from({ length: 30 }, (_, n) => ({
        member: `agent-${n}`,
        missing: 'proof_of_new',
        since: null,
        hint: 'Wake it.',
      })),
    ],
  },
  progress: { widened: 12, rolled: 9, proven: 8, total: 12 },
  retiringHits: {
    lastAt: at(-5),
    count: 14,
    sources: [{ host: LONG_ID, proven: true, address: '10.0.0.7:51234', at: at(-5) }],
  },
  verifyUntil: at(6 * 86_400),
};

export const leaked: RotationStatus = {
  ...rolling,
  rotation: {
    ...rolling.rotation,
    reason: 'leak',
    left: [LONG_ID, 'agent-9'],
    pausedBecause: 'The first host did not prove the new version.',
  },
};

export const openGate: RotationStatus = {
  ...rolling,
  gate: { open: true, blockers: [] },
  retiringHits: { lastAt: null, count: 0, sources: [] },
};

export const done: RotationStatus = {
  ...openGate,
  rotation: { ...rolling.rotation, phase: 'done' },
  verifyUntil: at(-5),
};

export function auditRecords(first: number, count: number): AuditRecord[] {
  return Array.from({ length: count }, (_, n) => ({
    seq: first + n,
    at: at(first + n),
    actor: { id: 'ada', kind: 'operator', rung: 'socket', verified: false },
    action: 'pin_approved',
    target: LONG_ID,
    outcome: 'done',
    details: { pinned: PINNED, new: NEW, note: 'a\u001b[2Jb', hosts: ['a', 'b'] },
  }));
}

export const agentStatus: AgentStatusAnswer = {
  host: LONG_ID,
  life: 2,
  fingerprint: PINNED,
  held: { master: { epoch: 1, step: 9 } },
  hubReachable: false,
  problems: [
    {
      code: 'pin_contested',
      hint: 'The hub holds another key for this host: compare `rollcall pin show` there with the fingerprint above, digit by digit.',
    },
  ],
  presents: { secret: 'master', version: 4 },
  pin: 'pending',
  lastAnswerAt: at(-75),
  heartbeats: { ok: 118, unreachable: 4 },
};
