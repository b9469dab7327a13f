/**
 * Does the time of a refusal tell why (I13)? Refusals of every kind are made in a random order, in this process, and the means of
 * their times are compared, three times over. Two controls: a kind against itself, which must not differ; and refusals after which
 * one MAC more is computed, as it was for a host that is on the roll before docs/decisions/009, which must.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authenticateHost, type Hub } from '@rollcall/hub/parts';
import { atLeast, atMost, type BenchResult, figure } from './measure.ts';
import { createRefusedRoll, type RefusedClass } from './timing/refused-roll.ts';
import { compare, means, type Samples, T_BOUND } from './timing/welch.ts';

const REPEATS = 3;
/** Of the two kinds that are compared, together. */
const SAMPLES_PER_PAIR = 300_000;
const WARM_UP = 20_000;

export async function benchTiming(samplesPerPair: number = SAMPLES_PER_PAIR): Promise<BenchResult[]> {
  const dir = mkdtempSync(join(tmpdir(), 'rollcall-timing-'));
  const { hub, classes, close } = await createRefusedRoll(dir);
  try {
    const control: RefusedClass = { name: 'control: one MAC more', requests: classes[0]?.requests ?? [] };
    const all = [...classes, control];
    const runs: (readonly number[])[] = [];
    let last: readonly number[] = [];
    await sample(hub, all, WARM_UP);
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      const samples = await sample(hub, all, (samplesPerPair / 2) * all.length);
      runs.push(compare(samples, all.length));
      last = means(samples, all.length);
    }
    const largest = (at: number) => Math.max(...runs.map((run) => Math.abs(run[at] ?? 0)));
    const smallest = (at: number) => Math.min(...runs.map((run) => Math.abs(run[at] ?? 0)));
    const us = (at: number) => `|t| against ${classes[0]?.name}; mean ${(last[at] ?? 0).toFixed(2)} µs`;
    return [
      figure('timing.samples_per_pair', samplesPerPair, `, ${REPEATS} times`),
      ...classes
        .slice(1)
        .map(({ name }, index) => atMost(`timing.${slug(name)}`, largest(index + 1), us(index + 1), T_BOUND)),
      atLeast('timing.control_one_mac_more', smallest(all.length - 1), us(all.length - 1), T_BOUND),
    ];
  } finally {
    await close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The last class is the control. */
async function sample(hub: Hub, classes: readonly RefusedClass[], count: number): Promise<Samples> {
  const times = new Float64Array(count);
  const order = Uint8Array.from({ length: count }, () => Math.floor(Math.random() * classes.length));
  const requests = classes.map((one) =>
    one.requests.map((rawHeaders) => ({ rawHeaders }) as unknown as IncomingMessage),
  );
  for (let at = 0; at < count; at += 1) {
    const kind = order[at] as number;
    const choices = requests[kind] as readonly IncomingMessage[];
    // In a turn of its own, as a request from the network is.
    if (at % 64 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    times[at] = await timeOne(hub, choices[at % choices.length] as IncomingMessage, kind === classes.length - 1);
  }
  return { classes: order, times };
}

const extra = { id: 'x'.repeat(14), status: 'active', life: 1, added_at: 1_700_000_000_000 };

async function timeOne(hub: Hub, request: IncomingMessage, isControl: boolean): Promise<number> {
  const startedAt = process.hrtime.bigint();
  try {
    await authenticateHost(hub, request, 'heartbeat');
  } catch {
    if (isControl) hub.vault.mac('hosts', extra);
    return Number(process.hrtime.bigint() - startedAt);
  }
  throw new Error('timing: a request was not refused');
}

function slug(name: string): string {
  return name.replaceAll(/[^a-z]+/g, '_');
}
