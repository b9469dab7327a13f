/** Hosts as an operator sees them. */
import { isFresh, isStale } from '@rollcall/core/liveness';
import type { HostRow, ShowHostAnswer } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import type { RollEntry } from '../roll.ts';
import { findAssignment } from '../store/assignments.ts';
import { type HostRecord, listRoll, readHost, type UnreadableHost } from '../store/hosts.ts';
import { findPin, listPendings, listPins, type PinRecord } from '../store/pins.ts';

export async function listHostRows(hub: Hub): Promise<HostRow[]> {
  const pins = await listPins(hub.db, hub.vault);
  const pending = new Set((await listPendings(hub.db, hub.vault)).map((change) => change.host));
  return (await listRoll(hub.db, hub.vault)).map((host) => toRow(hub, host, pins.get(host.id), pending.has(host.id)));
}

export async function showHost(hub: Hub, id: string): Promise<ShowHostAnswer> {
  const host = await readHost(hub.db, hub.vault, id);
  const pin = await findPin(hub.db, hub.vault, id);
  const isPending = (await listPendings(hub.db, hub.vault, id)).length > 0;
  const assignment = await findAssignment(hub.db, hub.vault, id, MASTER);
  const entry = hub.roll.get(id);
  return {
    host: toRow(hub, host, pin, isPending),
    address: host.address,
    seenFrom: entry?.address ?? null,
    agentVersion: entry?.agentVersion ?? null,
    addedAt: toTime(host.added_at),
    assignments:
      assignment === undefined
        ? []
        : [
            {
              secret: MASTER,
              wanted: { epoch: assignment.epoch, step: assignment.step },
              acked: assignment.ackedStep === 0 ? null : { epoch: assignment.epoch, step: assignment.ackedStep },
              accept: [...assignment.accept],
              present: assignment.present,
            },
          ],
    refused: (entry?.refused ?? []).map(({ secret, reason }) => ({ secret, reason })),
  };
}

export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

function toRow(
  hub: Hub,
  host: HostRecord | UnreadableHost,
  pin: PinRecord | 'unreadable' | undefined,
  isPending: boolean,
): HostRow {
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
    pending: isPending,
    life: isReadable ? host.life : 1,
    proven:
      isReadable && host.proven_version !== null ? { master: { epoch: hub.epoch, version: host.proven_version } } : {},
    skewMs: entry?.skewMs ?? null,
    flags: flagsOf(hub, host, pin, entry),
  };
}

function flagsOf(
  hub: Hub,
  host: HostRecord | UnreadableHost,
  pin: PinRecord | 'unreadable' | undefined,
  entry: RollEntry | undefined,
): string[] {
  const now = hub.clock.monotonic();
  const flags: [string, boolean][] = [
    ['unreadable', host.status === 'unreadable' || pin === 'unreadable' || entry?.isAssignmentReadable === false],
    ['banned', host.status !== 'unreadable' && host.banned === 1],
    ['approved_key_awaited', host.status !== 'unreadable' && host.approved_fingerprint !== null],
    ['stale', entry !== undefined && isStale(entry.seenMonotonic, entry.intervalMs, hub.clock.startedMonotonic, now)],
    ['unusable_key', entry?.unusableKey ?? false],
    ['cloned', entry?.cloneAlertedAt != null],
    ['refuses_delivery', (entry?.refused.length ?? 0) > 0],
  ];
  return flags.filter(([, holds]) => holds).map(([flag]) => flag);
}
