/** Hosts as an operator sees them. */
import { isFresh, isStale } from '@rollcall/core/liveness';
import { rungs } from '@rollcall/core/rungs';
import { isDrop } from '@rollcall/core/seal';
import type { HostRow, ShowHostAnswer } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { listUnreadableRows } from '../operations/begin-anew.ts';
import { liveTokensOf, toHostTokenRow } from '../operations/issue-host-token.ts';
import type { RollEntry } from '../roll.ts';
import { type AssignmentRecord, findReadableAssignments } from '../store/assignments.ts';
import { findHostTokens } from '../store/host-tokens.ts';
import { type HostRecord, listRoll, readHost, type UnreadableHost } from '../store/hosts.ts';
import { findPendings, findPin, listPendings, listPins, type PendingRecord, type PinRecord } from '../store/pins.ts';
import { FLEET, findRungPolicy } from '../store/rung-rules.ts';
import { orUnreadable, type Readable } from '../store/trust-row.ts';
import { toRungRow } from './rungs.ts';

export async function listHostRows(hub: Hub): Promise<HostRow[]> {
  const pins = await listPins(hub.db, hub.vault);
  const pendings = await listPendings(hub.db, hub.vault);
  return (await listRoll(hub.db, hub.vault)).map((host) =>
    toRow(hub, host, { pin: pins.get(host.id), pendings: pendings.get(host.id) }),
  );
}

/** What can be read of it, and what cannot: a damaged row is no reason to show nothing. */
export async function showHost(hub: Hub, id: string): Promise<ShowHostAnswer> {
  const { db, vault } = hub;
  const host = await orUnreadable(readHost(db, vault, id));
  const pin = await orUnreadable(findPin(db, vault, id));
  const pendings = await orUnreadable(findPendings(db, vault, id));
  const assignments = await findReadableAssignments(db, vault, id);
  const tokens = await findHostTokens(db, vault, id);
  const fleet = await findRungPolicy(db, vault, FLEET);
  const own = await findRungPolicy(db, vault, id);
  const entry = hub.roll.get(id);
  return {
    host: toRow(hub, host === 'unreadable' ? { id, status: host } : host, { pin, pendings }),
    address: host === 'unreadable' ? null : host.address,
    seenFrom: entry?.address ?? null,
    agentVersion: entry?.agentVersion ?? null,
    addedAt: host === 'unreadable' ? null : toTime(host.added_at),
    assignments: masterFirst(assignments.filter((assignment) => !isDrop(assignment))).map(toAssignmentRow),
    released: assignments.filter((assignment) => isDrop(assignment) && !isProven(assignment)).map(toPositions),
    tokens: host === 'unreadable' ? [] : liveTokensOf(host, tokens).map(toHostTokenRow),
    rungs: rungs.map((rung) => toRungRow(rung, fleet, own)),
    refused: (entry?.refused ?? []).map(({ secret, reason }) => ({ secret, reason })),
    unreadable: await listUnreadableRows(hub, db, id),
  };
}

function masterFirst(assignments: readonly AssignmentRecord[]): AssignmentRecord[] {
  return [...assignments].sort((a, b) => Number(b.secret === MASTER) - Number(a.secret === MASTER));
}

function isProven({ step, ackedStep }: AssignmentRecord): boolean {
  return ackedStep === step;
}

function toAssignmentRow(assignment: AssignmentRecord) {
  return { ...toPositions(assignment), accept: [...assignment.accept], present: assignment.present };
}

function toPositions({ secret, epoch, step, ackedStep }: AssignmentRecord) {
  return { secret, wanted: { epoch, step }, acked: ackedStep === 0 ? null : { epoch, step: ackedStep } };
}

export function toTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : toTime(ms);
}

export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

interface Keys {
  readonly pin: Readable<PinRecord> | undefined;
  readonly pendings: Readable<readonly PendingRecord[]> | undefined;
}

function toRow(hub: Hub, host: HostRecord | UnreadableHost, { pin, pendings }: Keys): HostRow {
  const entry = hub.roll.get(host.id);
  const now = hub.clock.monotonic();
  const isReadable = host.status !== 'unreadable';
  return {
    id: host.id,
    status: isReadable ? host.status : 'active',
    reach: isReadable ? host.reach : 'pull',
    rung: entry?.rung ?? null,
    fresh: entry !== undefined && isFresh(entry.seenMonotonic, entry.intervalMs, now),
    lastSeenAt: entry?.lastSeenAt == null ? null : toTime(entry.lastSeenAt),
    pin: typeof pin === 'object' ? { fingerprint: pin.fingerprint, anchor: pin.anchor } : null,
    pending: typeof pendings === 'object' && pendings.length > 0,
    life: isReadable ? host.life : 1,
    proven:
      isReadable && host.proven_version !== null ? { master: { epoch: hub.epoch, version: host.proven_version } } : {},
    skewMs: entry?.skewMs ?? null,
    flags: flagsOf(hub, host, { pin, pendings }, entry),
  };
}

function isUnreadable(
  host: HostRecord | UnreadableHost,
  { pin, pendings }: Keys,
  entry: RollEntry | undefined,
): boolean {
  const rows = [host.status, pin, pendings, ...Object.values(entry?.rungs ?? {})];
  return rows.includes('unreadable') || entry?.isAssignmentReadable === false || entry?.areHostTokensReadable === false;
}

function flagsOf(
  hub: Hub,
  host: HostRecord | UnreadableHost,
  { pin, pendings }: Keys,
  entry: RollEntry | undefined,
): string[] {
  const now = hub.clock.monotonic();
  const flags: [string, boolean][] = [
    ['unreadable', isUnreadable(host, { pin, pendings }, entry)],
    ['banned', host.status !== 'unreadable' && host.banned === 1],
    ['approved_key_awaited', host.status !== 'unreadable' && host.approved_fingerprint !== null],
    ['stale', entry !== undefined && isStale(entry.seenMonotonic, entry.intervalMs, hub.clock.startedMonotonic, now)],
    ['unusable_key', entry?.unusableKey ?? false],
    ['lower_rung_seen', entry?.lowerRungSeenAt != null],
    ['cloned', entry?.cloneAlertedAt != null],
    ['refuses_delivery', (entry?.refused.length ?? 0) > 0],
  ];
  return flags.filter(([, holds]) => holds).map(([flag]) => flag);
}
