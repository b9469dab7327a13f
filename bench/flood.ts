/**
 * True hosts beside strangers who send thousands of wrong bearers a second: how much slower are their beats than without? In turn, so
 * that what slows the machine slows both. The hub is a process of its own on one core, the others share another.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FloodAnswers } from './flood/client.ts';
import { startProcess, usableCores } from './heartbeat/process.ts';
import { enrolRoll } from './heartbeat/roll.ts';
import type { ServerAnswers } from './heartbeat/server.ts';
import { type BenchResult, figure, median, p99 } from './measure.ts';

const HOSTS = 20;
const STRANGERS = 50;
const PER_SECOND = 4_000;
const ROUNDS = 6;
const ROUND_MS = 2_000;
/** Below this it is the scheduler of the machine that is measured. */
const SCHEDULER_MS = 5;

export async function benchFlood(): Promise<BenchResult[]> {
  const [serverCore, loadCore] = usableCores();
  const dir = mkdtempSync(join(tmpdir(), 'rollcall-flood-'));
  const script = '../flood/client.js';
  const hub = startProcess<ServerAnswers>(
    'server.js',
    ['hub', join(dir, 'hub')],
    loadCore === undefined ? undefined : serverCore,
  );
  const hosts = startProcess<FloodAnswers>(script, [], loadCore);
  const strangers = startProcess<FloodAnswers>(script, [], loadCore);
  try {
    const address = await hub.ask('started');
    await hosts.ask('openHosts', { port: address.port, requests: await enrolRoll(address, HOSTS) });
    await strangers.ask('openStrangers', { port: address.port, connections: STRANGERS });
    await hosts.ask('beat', ROUND_MS);
    await strangers.ask('flood', { perSecond: PER_SECOND, ms: ROUND_MS });
    const [alone, beside, refusals, cpu]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(p99(await hosts.ask('beat', ROUND_MS)));
      const cpuBefore = await hub.ask('cpuMs');
      const [times, perSecond] = await Promise.all([
        hosts.ask('beat', ROUND_MS),
        strangers.ask('flood', { perSecond: PER_SECOND, ms: ROUND_MS }),
      ]);
      cpu.push(((await hub.ask('cpuMs')) - cpuBefore) / ROUND_MS);
      beside.push(p99(times));
      refusals.push(perSecond);
    }
    const [withoutMs, withMs] = [Math.min(...alone), Math.min(...beside)];
    return [
      figure('flood.refused_per_second', median(refusals), '1/s'),
      figure('flood.hub_busy', median(cpu), 'of one core, the beats of true hosts with it'),
      figure('flood.p99_alone', withoutMs, `ms, the best of ${ROUNDS} rounds`),
      figure('flood.p99_beside', withMs, `ms, the best of ${ROUNDS} rounds`),
      // Held to nothing yet: it was measured on a crowded machine only.
      figure('flood.slower', withMs / Math.max(withoutMs, SCHEDULER_MS), `times, of at least ${SCHEDULER_MS} ms`),
    ];
  } finally {
    await Promise.all([hub.end(), hosts.end(), strangers.end()]);
    rmSync(dir, { recursive: true, force: true });
  }
}
