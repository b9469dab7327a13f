/** Liveness of every host that was heard since the last flush, in one batch; and the floor of the clock with it. */
import type { Hub } from '../hub.ts';
import type { RollEntry } from '../roll.ts';
import { flushLiveness } from '../store/liveness.ts';
import type { LivenessTable } from '../store/schema.ts';

export async function flushDirtyLiveness(hub: Hub): Promise<void> {
  const dirty = [...hub.roll.entries()].filter((entry) => entry.dirty);
  if (dirty.length === 0) return;
  for (const entry of dirty) entry.dirty = false;
  try {
    await flushLiveness(hub.db, dirty.map(toRow));
    await hub.clock.save(hub.db);
  } catch (error) {
    for (const entry of dirty) entry.dirty = true;
    throw error;
  }
}

function toRow(entry: RollEntry): LivenessTable {
  return {
    host: entry.id,
    last_seen_at: entry.lastSeenAt ?? 0,
    interval_ms: entry.intervalMs,
    instance: entry.instances.current?.instance ?? '',
    seq: entry.instances.current?.seq ?? 0,
    address: entry.address ?? '',
    agent_version: entry.agentVersion ?? '',
    rung: entry.rung ?? '',
    version: entry.version,
    skew_ms: entry.skewMs ?? 0,
  };
}
