/** A host in the roll in memory: what trust in it rests on, a projection of the store, and what was seen of it. */
import { encodeBase64url } from '@rollcall/core/bytes';
import { type InstanceState, noInstances } from '@rollcall/core/liveness';
import type { PinAnswer } from '@rollcall/core/pins';
import { noPolicy, type RungPolicy } from '@rollcall/core/rungs';
import type { Envelope } from '@rollcall/core/seal';
import { applyHostTokens, type HostTokenEntry } from './host-token-entries.ts';
import type { AssignmentRecord } from './store/assignments.ts';
import type { StoredHostToken } from './store/host-tokens.ts';
import type { HostRecord } from './store/hosts.ts';
import type { PinRecord } from './store/pins.ts';
import type { LivenessTable } from './store/schema.ts';
import type { Readable } from './store/trust-row.ts';
import type { TokenEntry } from './token-entries.ts';

/** Fields are flat: there is one entry for each host. */
export interface RollEntry {
  readonly id: string;
  /** `unreadable`: the row's MAC is wrong; nothing is taken from it (I10). */
  status: HostRecord['status'] | 'unreadable';
  life: number;
  formerLifeUntil: number | null;
  provenVersion: number | null;
  pinState: 'none' | 'pinned' | 'unreadable';
  pinFingerprint: string;
  /** As it is published, so that the steady state compares two texts. */
  pinPublicText: string;
  pinSince: number;
  /** `false`: the row is there, and its MAC is wrong. */
  isAssignmentReadable: boolean;
  wantedEpoch: number;
  wantedStep: number;
  wantedPresent: number;
  wantedAccept: readonly number[];
  issuedAt: number;
  ackedStep: number;
  /** The shared tokens that it holds. */
  tokens: readonly TokenEntry[];
  /** Its own tokens that let it in. */
  hostTokens: readonly HostTokenEntry[];
  /** `false`: a row of one is there, and its MAC is wrong. */
  areHostTokensReadable: boolean;
  /** Whether a token of its own was ever seen in its present life. */
  wasSeenByToken: boolean;
  /** What was decided for this host alone. */
  rungs: RungPolicy;

  // Seen by this process or an earlier one; no decision about trust rests on it.
  lastSeenAt: number | null;
  /** By this process's monotonic clock; `null` until it was seen since the start. */
  seenMonotonic: number | null;
  intervalMs: number;
  instances: InstanceState;
  /** Of those that stand on a lower rung than it has proven. */
  lowerInstances: InstanceState;
  /** When it was heard last on the highest rung that it has proven; monotonic. */
  highestSeenMonotonic: number | null;
  startup: string;
  address: string | null;
  agentVersion: string | null;
  rung: string | null;
  version: number | null;
  skewMs: number | null;
  /** Fingerprint of the key in its last beat; `null` when there was no usable one. */
  publishing: string | null;
  unusableKey: boolean;
  /** When it last sent no usable key, whatever it sent since: an old agent, beside which somebody else may publish one. */
  withoutKeyAt: number | null;
  /** When and from where the pinned key itself was published last. */
  pinSeenAt: number | null;
  pinSeenMonotonic: number | null;
  pinSeenFrom: string | null;
  /** What the last publication was, and what it was answered: the same again needs no look at the store. */
  publication: { readonly text: string; readonly answer: PinAnswer } | null;
  /** Beats with keys that wait for a decision, by fingerprint; no more of them than pending changes are kept. */
  pendingBeats: Map<string, { beats: number; lastSeenAt: number; address: string }>;
  /** When it last authenticated with an older generation than the one that it has proven, and with which. */
  presentedOld: { readonly version: number; readonly monotonicMs: number } | null;
  /** An instance that authenticated so since the newest one was heard last. */
  behind: { readonly instance: string; readonly address: string } | null;
  /** When somebody last said that this host is alive with less than what it was known by before, or is by its agent now. */
  lowerRungSeenAt: number | null;
  cloneAlertedAt: number | null;
  tokenReuseAlertedAt: number | null;
  refused: readonly { readonly secret: string; readonly reason: string }[];
  /** Whether liveness has to be flushed. */
  dirty: boolean;
  envelope: {
    readonly life: number;
    readonly epoch: number;
    readonly step: number;
    readonly recipient: string;
    readonly sealedAt: number;
    readonly sealed: Envelope;
  } | null;
}

/** Of a host of which nothing was read yet. */
export function createEntry(id: string): RollEntry {
  return {
    id,
    status: 'unreadable',
    life: 1,
    formerLifeUntil: null,
    provenVersion: null,
    pinState: 'none',
    pinFingerprint: '',
    pinPublicText: '',
    pinSince: 0,
    isAssignmentReadable: true,
    wantedEpoch: 0,
    wantedStep: 0,
    wantedPresent: 0,
    wantedAccept: [],
    issuedAt: 0,
    ackedStep: 0,
    tokens: [],
    hostTokens: [],
    areHostTokensReadable: true,
    wasSeenByToken: false,
    rungs: noPolicy,
    lastSeenAt: null,
    seenMonotonic: null,
    intervalMs: 0,
    instances: noInstances,
    lowerInstances: noInstances,
    highestSeenMonotonic: null,
    startup: '',
    address: null,
    agentVersion: null,
    rung: null,
    version: null,
    skewMs: null,
    publishing: null,
    unusableKey: false,
    withoutKeyAt: null,
    pinSeenAt: null,
    pinSeenMonotonic: null,
    pinSeenFrom: null,
    publication: null,
    pendingBeats: new Map(),
    presentedOld: null,
    behind: null,
    lowerRungSeenAt: null,
    cloneAlertedAt: null,
    tokenReuseAlertedAt: null,
    refused: [],
    dirty: false,
    envelope: null,
  };
}

/** What trust in one host rests on, as it stands in the store. */
export interface StandingTrust {
  readonly host: HostRecord | undefined;
  readonly pin: Readable<PinRecord> | undefined;
  readonly assignment: Readable<AssignmentRecord> | undefined;
  readonly hostTokens: readonly StoredHostToken[];
  readonly rungs: RungPolicy;
}

export function applyTrust(entry: RollEntry, standing: StandingTrust): void {
  const { host, pin, assignment: stored, hostTokens, rungs } = standing;
  const assignment = stored === 'unreadable' ? undefined : stored;
  if (host !== undefined && host.life !== entry.life) forgetFormerLife(entry);
  entry.publication = null;
  entry.status = host?.status ?? 'unreadable';
  entry.life = host?.life ?? entry.life;
  entry.formerLifeUntil = host?.former_life_until ?? null;
  entry.provenVersion = host?.proven_version ?? null;
  entry.pinState = pin === undefined ? 'none' : pin === 'unreadable' ? 'unreadable' : 'pinned';
  entry.pinFingerprint = typeof pin === 'object' ? pin.fingerprint : '';
  entry.pinPublicText = typeof pin === 'object' ? encodeBase64url(pin.public) : '';
  entry.pinSince = typeof pin === 'object' ? pin.since : 0;
  entry.isAssignmentReadable = stored !== 'unreadable';
  entry.wantedEpoch = assignment?.epoch ?? 0;
  entry.wantedStep = assignment?.step ?? 0;
  entry.wantedPresent = assignment?.present ?? 0;
  entry.wantedAccept = assignment?.accept ?? [];
  entry.issuedAt = assignment?.issuedAt ?? 0;
  entry.ackedStep = assignment?.ackedStep ?? 0;
  applyHostTokens(entry, hostTokens);
  entry.rungs = rungs;
}

/** What was seen of a former life says nothing about this one. */
function forgetFormerLife(entry: RollEntry): void {
  entry.version = null;
  entry.presentedOld = null;
  entry.behind = null;
  entry.instances = noInstances;
  entry.lowerInstances = noInstances;
  entry.highestSeenMonotonic = null;
  entry.pinSeenAt = null;
  entry.pinSeenMonotonic = null;
  entry.pinSeenFrom = null;
  entry.pendingBeats.clear();
  entry.unusableKey = false;
  entry.withoutKeyAt = null;
  entry.refused = [];
}

export function applyLiveness(entry: RollEntry, seen: LivenessTable | undefined): void {
  if (seen === undefined) return;
  // So that a beat that was recorded before a restart of the hub is a replay after it.
  if (seen.instance !== '') {
    entry.instances = { current: { instance: seen.instance, seq: seen.seq }, superseded: [] };
  }
  entry.lastSeenAt = seen.last_seen_at;
  entry.intervalMs = seen.interval_ms;
  entry.address = seen.address;
  entry.agentVersion = seen.agent_version;
  entry.rung = seen.rung;
  entry.version = seen.version;
  entry.skewMs = seen.skew_ms;
}
