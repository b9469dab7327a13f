/** Prometheus metrics: collected when they are scraped, from plain numbers (design 8). No host, fingerprint or token in a label. */

import { isFresh } from '@rollcall/core/liveness';
import { type Gate, phases, type Rotation } from '@rollcall/core/rotation';
import { Counter, Gauge, Registry } from 'prom-client';
import type { CountName } from './counts.ts';
import type { Hub } from './hub.ts';
import { MASTER } from './live-generations.ts';
import { type RollView, viewRoll, viewRotation } from './operations/rotation/view.ts';
import type { RollEntry } from './roll.ts';
import { findRunning } from './store/rotations.ts';

/** Returns the text exposition. */
export function createMetrics(hub: Hub): () => Promise<string> {
  const registry = new Registry();
  counter(registry, hub, 'heartbeats', 'rollcall_heartbeats_total', 'Heartbeats by result', 'result');
  counter(
    registry,
    hub,
    'delivery_refusals',
    'rollcall_delivery_refusals_total',
    'Deliveries that hosts refused',
    'reason',
  );
  counter(registry, hub, 'publications', 'rollcall_publications_total', 'Published keys that moved no pin', 'result');
  counter(registry, hub, 'instances', 'rollcall_instances_total', 'Beats that were no plain next beat', 'kind');
  authCounter(registry, hub);
  hitsCounter(registry, hub);
  rollGauges(registry, hub);
  return () => registry.metrics();
}

function counter(registry: Registry, hub: Hub, count: CountName, name: string, help: string, label: string): void {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, number] of hub.counts.read(count)) this.inc({ [label]: value }, number);
    },
  });
}

function authCounter(registry: Registry, hub: Hub): void {
  new Counter({
    name: 'rollcall_auth_total',
    help: 'Authentications by rung and result',
    labelNames: ['rung', 'result'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [result, number] of hub.counts.read('auth')) this.inc({ rung: 'derived', result }, number);
    },
  });
}

function hitsCounter(registry: Registry, hub: Hub): void {
  new Counter({
    name: 'rollcall_token_hits_total',
    help: 'Verified bearers by the place of their generation',
    labelNames: ['secret', 'kind'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [kind, number] of hub.counts.read('master_hits')) this.inc({ secret: MASTER, kind }, number);
    },
  });
}

/** One pass over the roll for all of them, at the source, when the first one is collected. */
function rollGauges(registry: Registry, hub: Hub): void {
  const gauge = (name: string, help: string, labelNames: string[] = [], collect?: () => Promise<void>) =>
    new Gauge({ name, help, labelNames, registers: [registry], ...(collect === undefined ? {} : { collect }) });
  const hosts = gauge('rollcall_hosts', 'Hosts on the roll by status', ['status'], collect);
  const fresh = gauge('rollcall_hosts_fresh', 'Hosts heard from lately');
  const byRung = gauge('rollcall_hosts_by_rung', 'Hosts by the rung of their last beat', ['rung']);
  const unpinned = gauge('rollcall_hosts_without_usable_pin', 'Hosts that nothing can be sealed to');
  const notProven = gauge('rollcall_hosts_not_proven', 'Hosts not seen with the current version', ['secret']);
  const pending = gauge('rollcall_pending_pins', 'Changes of pins that wait for a person');
  const due = gauge('rollcall_deliveries_due', 'Deliveries that are not proven yet', ['secret']);
  const inPhase = gauge('rollcall_rotation_phase', '1 for the phase that a rotation is in', ['secret', 'phase']);
  const blockers = gauge('rollcall_rotation_blockers', 'What holds the gate of a rotation closed', ['secret']);
  const until = gauge('rollcall_generation_verify_until_seconds', 'When the previous generation ends, Unix time');

  async function collect(): Promise<void> {
    const rotation = (await findRunning(hub.db, hub.vault, MASTER)) ?? null;
    const { hosts: rows, sweep, gate } = await viewOnce(hub, rotation);
    const entries = [...hub.roll.entries()];
    const now = hub.clock.monotonic();
    const isDue = (entry: RollEntry) => entry.status === 'active' && entry.ackedStep < entry.wantedStep;
    fill(
      hosts,
      'status',
      rows.map((row) => row.status),
    );
    fill(
      byRung,
      'rung',
      entries.flatMap((entry) => entry.rung ?? []),
    );
    fresh.set(entries.filter((entry) => isFresh(entry.seenMonotonic, entry.intervalMs, now)).length);
    unpinned.set(sweep.withoutUsablePin.length);
    notProven.set({ secret: MASTER }, sweep.notProvenOnCurrent.length);
    pending.set(sweep.pendingPins);
    due.set({ secret: MASTER }, entries.filter(isDue).length);
    until.set((sweep.previousVerifiesUntilMs ?? 0) / 1_000);
    for (const phase of Object.keys(phases)) inPhase.set({ secret: MASTER, phase }, rotation?.phase === phase ? 1 : 0);
    blockers.set({ secret: MASTER }, gate?.blockers.length ?? 0);
  }
}

async function viewOnce(hub: Hub, rotation: Rotation | null): Promise<RollView & { readonly gate?: Gate }> {
  return rotation === null ? viewRoll(hub, hub.db, null) : viewRotation(hub, hub.db, rotation);
}

function fill(gauge: Gauge, label: string, values: readonly string[]): void {
  gauge.reset();
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  for (const [value, count] of counts) gauge.set({ [label]: value }, count);
}
