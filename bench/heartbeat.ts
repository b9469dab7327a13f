/**
 * Heartbeats per second: the complete hub on SQLite, with an enrolled roll, against the least that a TLS server can do with
 * the same requests (parse the body, hash it once, answer as much). Each server is a process of its own on one core, the
 * load another on another core; without `taskset`, or with one core only, the system shares out what there is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadAnswers } from './heartbeat/load.ts';
import { type Asked, startProcess, usableCores } from './heartbeat/process.ts';
import { enrolRoll } from './heartbeat/roll.ts';
import type { ServerAnswers } from './heartbeat/server.ts';
import { atLeast, type BenchResult, figure, median } from './measure.ts';

/** So many that none of them beats more often than the hub lets one host. */
const HOSTS = 800;
const ROUNDS = 10;
const ROUND_MS = 1_000;
/** Until every function on the path has been compiled for good. */
const WARM_UP_MS = 4_000;
/** The hub writes down within a second what it has heard; that must not fall into the other's round. */
const REST_MS = 1_300;

type Server = Asked<ServerAnswers>;
type Servers = Readonly<Record<'hub' | 'bare', Server>>;

export async function benchHeartbeat(): Promise<BenchResult[]> {
  const [serverCore, loadCore] = usableCores();
  const core = loadCore === undefined ? undefined : serverCore;
  const dir = mkdtempSync(join(tmpdir(), 'rollcall-bench-'));
  const hub = startProcess<ServerAnswers>('server.js', ['hub', join(dir, 'hub')], core);
  const load = startProcess<LoadAnswers>('load.js', [], loadCore);
  let bare: Server | undefined;
  try {
    const address = await hub.ask('started');
    const emptyBytes = await hub.ask('heapBytes');
    const requests = await enrolRoll(address, HOSTS);
    await load.ask('open', { name: 'hub', port: address.port, requests });
    const { answerBytes } = await load.ask('run', { name: 'hub', ms: WARM_UP_MS });
    const connectedBytes = await hub.ask('heapBytes');
    // The other one answers with as many bytes.
    bare = startProcess<ServerAnswers>('server.js', ['bare', String(answerBytes)], core);
    await load.ask('open', { name: 'bare', port: (await bare.ask('started')).port, requests });
    await load.ask('run', { name: 'bare', ms: WARM_UP_MS });
    const rounds = await measure(load, { hub, bare });
    const rate = (name: keyof Servers) => median(rounds.map((round) => round[name].perSecond));
    const ratio = (of: keyof Rates) => median(rounds.map((round) => round.hub[of] / round.bare[of]));
    return [
      figure('heartbeat.per_second', rate('hub'), '1/s'),
      figure('heartbeat.bare_per_second', rate('bare'), '1/s, node:https that parses the body and hashes it once'),
      figure('heartbeat.of_bare_per_cpu_second', ratio('perCpuSecond'), 'of it, by processor time alone'),
      atLeast('heartbeat.of_bare', ratio('perSecond'), 'of it', 0.6),
      figure('heartbeat.heap_per_host', (connectedBytes - emptyBytes) / HOSTS, 'bytes, its connection with it'),
    ];
  } finally {
    await Promise.all([hub.end(), load.end(), bare?.end()]);
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Rates {
  readonly perSecond: number;
  /** Of the server's own processor time. The load may be what holds the faster server back; that is not in it. */
  readonly perCpuSecond: number;
}

/** In turn, so that what slows the machine slows both. */
async function measure(load: Asked<LoadAnswers>, servers: Servers): Promise<Record<keyof Servers, Rates>[]> {
  const rounds: Record<keyof Servers, Rates>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const hub = await measureOne(load, 'hub', servers.hub);
    await sleep(REST_MS);
    const bare = await measureOne(load, 'bare', servers.bare);
    rounds.push({ hub, bare });
  }
  return rounds;
}

async function measureOne(load: Asked<LoadAnswers>, name: keyof Servers, server: Server): Promise<Rates> {
  const before = await server.ask('cpuMs');
  const { beats, ms } = await load.ask('run', { name, ms: ROUND_MS });
  const cpuMs = (await server.ask('cpuMs')) - before;
  return { perSecond: (beats / ms) * 1_000, perCpuSecond: (beats / cpuMs) * 1_000 };
}
