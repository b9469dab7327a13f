/**
 * The roll as a rotation sees it: the registry query at the source, every row of it, joined with what this process has
 * seen. No filter here, and none before the pass that counts (I6).
 */
import { isFresh, staleAfterMs } from '@rollcall/core/liveness';
import type { FirstUseHost } from '@rollcall/core/pins';
import { previousGeneration, type RollHost, type Rotation, type UnreadablePart } from '@rollcall/core/rotation';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import type { RollEntry } from '../roll.ts';
import { type AssignmentRecord, listAssignments } from '../store/assignments.ts';
import type { LiveRecord } from '../store/generations.ts';
import { type HostRecord, listRoll, type UnreadableHost } from '../store/hosts.ts';
import {
  listObserved,
  listPendings,
  listPins,
  type ObservedRecord,
  type PendingRecord,
  type PinRecord,
} from '../store/pins.ts';
import type { Db } from '../store/schema.ts';
import type { Readable } from '../store/trust-row.ts';
import { knowsLiveMaster } from './known-master.ts';

type Source = Pick<Hub, 'vault' | 'roll' | 'clock'>;

interface Row {
  readonly host: HostRecord | UnreadableHost;
  readonly pin: Readable<PinRecord> | undefined;
  readonly assignment: Readable<AssignmentRecord> | undefined;
  readonly entry: RollEntry | undefined;
}

/** `generations`: those that are there, which tell whose knowledge of a master still counts. */
export async function observeRoll(
  hub: Source,
  db: Db,
  rotation: Rotation | null,
  generations: readonly LiveRecord[],
): Promise<RollHost[]> {
  const pendings = await listPendings(db, hub.vault);
  const previous = previousGeneration(generations)?.version;
  const now = hub.clock.monotonic();
  return (await joinRoll(hub, db)).map((row) => ({
    ...stateOf(row),
    ...seenOf(row.entry, now, previous),
    pendingPins: readable(pendings.get(row.host.id))?.filter((pending) => isAbout(pending, row)).length ?? 0,
    holdsMaster: row.host.status !== 'unreadable' && knowsLiveMaster(row.host, generations, hub.clock.now()),
    switched: rotation !== null && readable(row.assignment)?.present === rotation.to,
    narrowed: hasNarrowed(readable(row.assignment), rotation),
    refusal: row.entry?.refused.find((refused) => refused.secret === MASTER)?.reason ?? null,
    unreadable: unreadableOf(row, pendings.get(row.host.id)),
  }));
}

/** The same pass, for the question of who could be pinned without a race. */
export async function observeFirstUse(hub: Source, db: Db): Promise<FirstUseHost[]> {
  const observed = await listObserved(db, hub.vault);
  const now = hub.clock.monotonic();
  return (await joinRoll(hub, db)).map((row) => {
    const { id, status, pin } = stateOf(row);
    return {
      id,
      status,
      pin: pin === 'usable' ? ('pinned' as const) : pin,
      everSeen: row.entry !== undefined && row.entry.lastSeenAt !== null,
      fresh: seenOf(row.entry, now).fresh,
      publishing: row.entry?.publishing ?? null,
      ...keysOf(observed.get(id)),
      withoutKeyAtMs: row.entry?.withoutKeyAt ?? null,
      address: row.entry?.address ?? null,
    };
  });
}

async function joinRoll(hub: Source, db: Db): Promise<Row[]> {
  const hosts = await listRoll(db, hub.vault);
  const pins = await listPins(db, hub.vault);
  const assignments = await listAssignments(db, hub.vault, MASTER);
  return hosts.map((host) => ({
    host,
    pin: pins.get(host.id),
    assignment: assignments.get(host.id),
    entry: hub.roll.get(host.id),
  }));
}

/** A host whose row cannot be read is on the roll and has proven nothing: it can only hold a gate closed (I10). */
function stateOf({ host, pin }: Row): Pick<RollHost, 'id' | 'status' | 'pin' | 'provenVersion'> {
  if (host.status === 'unreadable') return { id: host.id, status: 'active', pin: 'unreadable', provenVersion: null };
  return {
    id: host.id,
    status: host.status === 'removed' ? 'active' : host.status,
    pin: pin === undefined ? 'none' : pin === 'unreadable' ? 'unreadable' : 'usable',
    provenVersion: host.proven_version,
  };
}

function seenOf(
  entry: RollEntry | undefined,
  now: number,
  previous?: number,
): Pick<RollHost, 'fresh' | 'lastSeenAtMs' | 'unusableKey' | 'presentingOld'> {
  if (entry === undefined) return { fresh: false, lastSeenAtMs: null, unusableKey: false, presentingOld: false };
  return {
    fresh: isFresh(entry.seenMonotonic, entry.intervalMs, now),
    lastSeenAtMs: entry.lastSeenAt,
    unusableKey: entry.unusableKey,
    presentingOld: isPresentingOld(entry, previous, now),
  };
}

/** For as long as a silent host counts as there, so does one that went back, to the version that would be retired. */
function isPresentingOld({ presentedOld, intervalMs }: RollEntry, previous: number | undefined, now: number): boolean {
  if (presentedOld === null || presentedOld.version !== previous) return false;
  return now - presentedOld.monotonicMs <= staleAfterMs(intervalMs);
}

function keysOf(
  observed: Readable<readonly ObservedRecord[]> | undefined = [],
): Pick<FirstUseHost, 'keys' | 'areKeysUnreadable'> {
  if (observed === 'unreadable') return { keys: [], areKeysUnreadable: true };
  return { keys: observed.map((key) => ({ fingerprint: key.fingerprint, firstSeenAtMs: key.first_seen_at })) };
}

function unreadableOf({ host, pin, assignment }: Row, pendings: unknown): UnreadablePart[] {
  const parts: [UnreadablePart, unknown][] = [
    ['host', host.status],
    ['pin', pin],
    ['pending', pendings],
    ['assignment', assignment],
  ];
  return parts.filter(([, read]) => read === 'unreadable').map(([part]) => part);
}

function isAbout({ pinned }: PendingRecord, { pin }: Row): boolean {
  return typeof pin === 'object' && pinned === pin.fingerprint;
}

/** What cannot be read has switched nobody and narrowed nothing: it can only hold a gate closed (I10). */
function readable<T>(read: Readable<T> | undefined): T | undefined {
  return read === 'unreadable' ? undefined : read;
}

function hasNarrowed(assignment: AssignmentRecord | undefined, rotation: Rotation | null): boolean {
  if (assignment === undefined || rotation === null) return false;
  const isNarrow = assignment.accept.length === 1 && assignment.accept[0] === rotation.to;
  return isNarrow && assignment.ackedStep === assignment.step;
}
