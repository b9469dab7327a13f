/** Requests per second of a Fastify behind `fastifyPlugin`, against one behind @fastify/bearer-auth, in turn, each a process of its own. */
import { randomBytes } from 'node:crypto';
import { encodeToken } from '@rollcall/core/keys';
import { type Asked, startProcess, usableCores } from '../heartbeat/process.ts';
import { atLeast, type BenchResult, figure, median } from '../measure.ts';
import type { GuardLoadAnswers } from './load.ts';
import type { GuardServerAnswers } from './server.ts';

const ROUNDS = 24;
const ROUND_MS = 300;
const WARM_UP_MS = 2_000;

const guards = ['rollcall', 'bearer-auth', 'nobody'] as const;
type Name = (typeof guards)[number];
type Server = Asked<GuardServerAnswers>;
type Servers = Readonly<Record<Name, Server>>;

export async function benchGuards(): Promise<BenchResult[]> {
  const [current, next] = [encodeToken('rcf', randomBytes(32)), encodeToken('rcf', randomBytes(32))];
  const [serverCore, loadCore] = usableCores();
  const core = loadCore === undefined ? undefined : serverCore;
  const start = (name: Name) => startProcess<GuardServerAnswers>('../token/server.js', [name, current, next], core);
  const servers: Servers = {
    rollcall: start('rollcall'),
    'bearer-auth': start('bearer-auth'),
    nobody: start('nobody'),
  };
  const load = startProcess<GuardLoadAnswers>('../token/load.js', [], loadCore);
  try {
    // The same bytes for each: node takes longer to read a header that it does not know, and no guard can help that.
    const headers = [`X-Node-Token: ${current}`, `Authorization: Bearer ${current}`];
    for (const name of guards) {
      const { port } = await servers[name].ask('started');
      await load.ask('open', { name, port, headers });
      await load.ask('run', { name, ms: WARM_UP_MS });
    }
    const rounds = await measure(load, servers);
    const rate = (name: Name) => median(rounds.map((round) => round[name].perSecond));
    const ratio = (to: Name, of: keyof Rates) => median(rounds.map((round) => round.rollcall[of] / round[to][of]));
    return [
      figure('token.guarded_per_second', rate('rollcall'), '1/s, Fastify behind fastifyPlugin'),
      figure(
        'token.guarded_of_open',
        ratio('nobody', 'perCpuSecond'),
        'of a Fastify behind nothing, by processor time',
      ),
      figure(
        'token.guarded_over_bearer_auth_by_clock',
        ratio('bearer-auth', 'perSecond'),
        'times @fastify/bearer-auth',
      ),
      atLeast(
        'token.guarded_over_bearer_auth',
        ratio('bearer-auth', 'perCpuSecond'),
        'times @fastify/bearer-auth, by processor time',
        1,
      ),
    ];
  } finally {
    await Promise.all([...Object.values(servers), load].map((one) => one.end()));
  }
}

interface Rates {
  readonly perSecond: number;
  /** Of the server's own processor time: what else runs on the machine is not in it. */
  readonly perCpuSecond: number;
}

/** In turn and back again, so that what slows the machine slows all. */
async function measure(load: Asked<GuardLoadAnswers>, servers: Servers): Promise<Record<Name, Rates>[]> {
  const rounds: Record<Name, Rates>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const rates = {} as Record<Name, Rates>;
    for (const name of round % 2 === 0 ? guards : guards.toReversed()) {
      rates[name] = await measureOne(load, name, servers[name]);
    }
    rounds.push(rates);
  }
  return rounds;
}

async function measureOne(load: Asked<GuardLoadAnswers>, name: Name, server: Server): Promise<Rates> {
  const before = await server.ask('cpuMs');
  const { count, ms } = await load.ask('run', { name, ms: ROUND_MS });
  const cpuMs = (await server.ask('cpuMs')) - before;
  return { perSecond: (count / ms) * 1_000, perCpuSecond: (count / cpuMs) * 1_000 };
}
