/**
 * The roll in memory: for each host what a heartbeat needs to be answered without a look at the disk. What trust rests
 * on is a projection of the store, read anew after every transaction that touched the host; what was seen of the host
 * (liveness) lives here first, and is flushed in batches. Fields are flat: there is one entry for each host.
 */
import { encodeBase64url } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import { type InstanceState, noInstances } from '@rollcall/core/liveness';
import type { PinAnswer } from '@rollcall/core/pins';
import type { Envelope } from '@rollcall/core/seal';
import type { HubClock } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import { MASTER } from './live-generations.ts';
import { createSharedRun } from './shared-run.ts';
import { type AssignmentRecord, findAssignment, listAssignments } from './store/assignments.ts';
import { findHost, type HostRecord, listRoll } from './store/hosts.ts';
import { listLiveness } from './store/liveness.ts';
import { findPin, listPins, type PinRecord } from './store/pins.ts';
import type { Db, LivenessTable, Tx } from './store/schema.ts';
import { EVERY_HOST, listTrustChanges, readTrustVersion } from './store/trust-changes.ts';
import { orUnreadable } from './store/trust-row.ts';
import { projectTokens, readTokensOf, readTokensOfAll, type TokenEntry } from './token-entries.ts';

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

  // Seen by this process or an earlier one; no decision about trust rests on it.
  lastSeenAt: number | null;
  /** By this process's monotonic clock; `null` until it was seen since the start. */
  seenMonotonic: number | null;
  intervalMs: number;
  instances: InstanceState;
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
  /** When somebody last said with a shared token alone that this host is alive, which has a credential of its own. */
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

export interface Roll {
  get(id: string): RollEntry | undefined;
  entries(): IterableIterator<RollEntry>;
  /** Reads one host at the source. `undefined` when it is not on the roll. Rejects, and changes nothing, when the source does not answer. */
  reload(id: string): Promise<RollEntry | undefined>;
  reloadAll(): Promise<void>;
  /** Whether memory may say yes: for 30 s after it was as new as the store (I8). */
  mayYes(): boolean;
  /** Makes memory as new as the store was when this was called: reads again what changed, and nothing where nothing did. */
  catchUp(): Promise<void>;
}

export async function createRoll(deps: { db: Db; vault: Vault; clock: Pick<HubClock, 'monotonic'> }): Promise<Roll> {
  const { db, vault, clock } = deps;
  const held = new Map<string, RollEntry>();
  /** Every change up to this version is in memory; of some hosts later ones are too. */
  let readUpTo = 0;
  const readSince = new Map<string, number>();
  let asNewAtMs = Number.NEGATIVE_INFINITY;

  const project = (
    id: string,
    host: HostRecord | undefined,
    pin: PinRecord | 'unreadable' | undefined,
    assignment: AssignmentRecord | 'unreadable' | undefined,
  ): RollEntry => {
    const entry = held.get(id) ?? createEntry(id);
    held.set(id, entry);
    applyTrust(entry, host, pin, assignment);
    return entry;
  };

  const readAll = async (tx: Tx): Promise<void> => {
    const version = await readTrustVersion(tx);
    const hosts = await listRoll(tx, vault);
    const pins = await listPins(tx, vault);
    const assignments = await listAssignments(tx, vault, MASTER);
    const tokens = await readTokensOfAll(tx, vault);
    const seen = new Map((await listLiveness(tx)).map((row) => [row.host, row]));
    const onRoll = new Set(hosts.map((host) => host.id));
    for (const id of held.keys()) if (!onRoll.has(id)) held.delete(id);
    for (const host of hosts) {
      // What this process saw itself is newer than what was flushed.
      const isNew = !held.has(host.id);
      const readable = host.status === 'unreadable' ? undefined : host;
      const entry = project(host.id, readable, pins.get(host.id), assignments.get(host.id));
      entry.tokens = projectTokens(entry.tokens, tokens.get(host.id));
      if (isNew) applyLiveness(entry, seen.get(host.id));
    }
    readUpTo = Math.max(readUpTo, version);
    readSince.clear();
  };

  const roll: Roll = {
    get: (id) => held.get(id),
    entries: () => held.values(),

    // Read, and applied, within one transaction: nothing is committed between two reads, so that no entry is half of one life
    // and half of the next; and what was read before a change is never applied after it.
    reload: (id) =>
      db.transaction().execute(async (tx) => {
        const version = await readTrustVersion(tx);
        const host = await orUnreadable(findHost(tx, vault, id));
        const pin = await orUnreadable(findPin(tx, vault, id));
        const assignment = await orUnreadable(findAssignment(tx, vault, id, MASTER));
        const tokens = await readTokensOf(tx, vault, id);
        readSince.set(id, version);
        if (host === undefined || (host !== 'unreadable' && host.status === 'removed')) {
          held.delete(id);
          return undefined;
        }
        const entry = project(id, host === 'unreadable' ? undefined : host, pin, assignment);
        entry.tokens = projectTokens(entry.tokens, tokens);
        return entry;
      }),

    mayYes: () => clock.monotonic() - asNewAtMs < limits.cachedYesMs,

    reloadAll: async () => {
      const beganAtMs = clock.monotonic();
      await db.transaction().execute((tx) => readAll(tx));
      asNewAtMs = beganAtMs;
    },

    catchUp: createSharedRun(async () => {
      const beganAtMs = clock.monotonic();
      const changes = await listTrustChanges(db, readUpTo);
      const unread = changes.filter(({ host, version }) => host !== EVERY_HOST && (readSince.get(host) ?? 0) < version);
      if (unread.length > limits.changesReadOneByOne) return roll.reloadAll();
      for (const { host } of unread) await roll.reload(host);
      readUpTo = changes.at(-1)?.version ?? readUpTo;
      if (changes.length > 0) readSince.clear();
      asNewAtMs = beganAtMs;
    }),
  };
  await roll.reloadAll();
  return roll;
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
    lastSeenAt: null,
    seenMonotonic: null,
    intervalMs: 0,
    instances: noInstances,
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

function applyTrust(
  entry: RollEntry,
  host: HostRecord | undefined,
  pin: PinRecord | 'unreadable' | undefined,
  stored: AssignmentRecord | 'unreadable' | undefined,
): void {
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
}

/** What was seen of a former life says nothing about this one. */
function forgetFormerLife(entry: RollEntry): void {
  entry.version = null;
  entry.presentedOld = null;
  entry.behind = null;
  entry.instances = noInstances;
  entry.pinSeenAt = null;
  entry.pinSeenMonotonic = null;
  entry.pinSeenFrom = null;
  entry.pendingBeats.clear();
  entry.unusableKey = false;
  entry.withoutKeyAt = null;
  entry.refused = [];
}

function applyLiveness(entry: RollEntry, seen: LivenessTable | undefined): void {
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
