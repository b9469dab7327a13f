/** A hub and its agents as real processes over a directory of their own, with an operator at the command line. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type HubRootFile, parseEnrolmentToken, parseHubRootFile } from '@rollcall/core/keys';
import type {
  AddHostAnswer,
  AddHostBody,
  AgentStatusAnswer,
  HostRow,
  HubStatusAnswer,
  RotationStatus,
} from '@rollcall/wire';
import { createAgents, tellStory } from './agents.ts';
import { type Child, startChild } from './child.ts';
import { type Answered, exchange } from './exchange.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { openStore, type Store } from './store.ts';
import { waitUntil } from './wait-until.ts';

export interface FleetOptions {
  /** For `hub start`. */
  readonly hubFlags?: readonly string[];
  /** Bytes of a master to import; without, the hub draws one. `null`: there is none yet. */
  readonly master?: Uint8Array | null;
  readonly hubNodeArgs?: readonly string[];
  readonly hubEnv?: Readonly<Record<string, string>>;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as JSON; throws where it is none. */
  readonly json: <T = Record<string, unknown>>() => T;
}

export interface Fleet {
  readonly dir: string;
  readonly recorder: Recorder;
  /** Of the fleet listener, on loopback. */
  readonly port: number;
  readonly files: {
    readonly database: string;
    readonly kek: string;
    readonly hubRoot: string;
    readonly offlineKey: string;
  };
  readonly hub: () => Child;
  readonly startHub: (...flags: readonly string[]) => Promise<Child>;
  /** Runs a command, `--json` where it is among the arguments. */
  readonly rollcall: (...args: readonly string[]) => Promise<Ran>;
  /** The operators' socket without the cost of a process: for waiting. */
  readonly ask: <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<T>;
  readonly askRaw: (method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<Answered>;
  readonly metrics: () => Promise<string>;
  readonly host: (id: string) => Promise<HostRow>;
  readonly rotation: () => Promise<RotationStatus>;
  /** Puts a host on the roll: the text of its enrolment token. */
  readonly addHost: (id: string, body?: Partial<AddHostBody>) => Promise<string>;
  readonly stateOf: (id: string) => string;
  readonly write: (name: string, content: string | Uint8Array) => string;
  readonly startAgent: (id: string, ...flags: readonly string[]) => Child;
  /** `addHost`, and an agent that enrols with the token. Resolves when the hub has seen it prove. */
  readonly enrolAgent: (id: string) => Promise<Child>;
  readonly agentStatus: (id: string) => Promise<AgentStatusAnswer>;
  readonly store: () => Store;
  readonly waitUntil: typeof waitUntil;
  /** What every process said last. */
  readonly story: () => string;
  readonly close: () => Promise<void>;
}

export async function createFleet(options: FleetOptions = {}): Promise<Fleet> {
  const { hubFlags = ['--beat', '200ms'], master, hubNodeArgs = [], hubEnv = {} } = options;
  const recorder = createRecorder();
  const agents = createAgents(recorder);
  const { dir } = agents;
  const [port, metricsPort] = [await freePort(), await freePort()];
  const hubDir = join(dir, 'hub');
  const operatorSocket = join(hubDir, 'operator.sock');
  const env = { HOME: dir, ROLLCALL_HUB: `unix:${operatorSocket}` };
  const hubs: Child[] = [];
  const stores: Store[] = [];
  let hub: Child | undefined;

  const story = () => `${hubs.map(tellStory).join('\n')}\n${agents.story()}`;
  const wait: typeof waitUntil = (what, probe, given) => waitUntil(what, probe, { story, ...given });

  const run = async (args: readonly string[], input?: Uint8Array): Promise<Ran> => {
    const name = `rollcall ${args.slice(0, 2).join(' ')}`;
    const child = startChild({ name, args, recorder, env, ...(input === undefined ? {} : { input }) });
    const { code } = await child.ended;
    const stdout = child.stdout();
    return { code, stdout, stderr: child.stderr(), json: <T>() => JSON.parse(stdout) as T };
  };

  const askRaw: Fleet['askRaw'] = (method, path, body) =>
    exchange(
      { socket: operatorSocket },
      { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
      recorder,
    );
  const ask = async <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<T> => {
    const answer = await askRaw(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return answer.json<T>();
  };

  const fleet: Fleet = {
    dir,
    recorder,
    port,
    files: {
      database: join(hubDir, 'hub.db'),
      kek: `${hubDir}.kek`,
      hubRoot: join(hubDir, 'hub-root.json'),
      offlineKey: `${hubDir}.offline-root-key`,
    },
    hub: () => {
      if (hub === undefined) throw new Error('there is no hub');
      return hub;
    },
    startHub: async (...flags) => {
      const where = ['--dir', hubDir, '--metrics', `127.0.0.1:${metricsPort}`, '--log-level', 'debug'];
      const child = startChild({
        name: 'hub',
        args: ['hub', 'start', ...where, ...hubFlags, ...flags],
        recorder,
        nodeArgs: hubNodeArgs,
        env: { ...env, ...hubEnv },
      });
      hub = child;
      hubs.push(child);
      await wait('the hub answers', async () => {
        if (child.hasEnded()) throw new Error(`the hub has ended: ${child.stderr()}`);
        return await ask<HubStatusAnswer>('GET', '/v1/status');
      });
      return child;
    },
    rollcall: (...args) => run(args),
    ask,
    askRaw,
    metrics: async () => (await exchangePlain(metricsPort)).text,
    host: async (id) => (await ask<{ host: HostRow }>('GET', `/v1/hosts/${id}`)).host,
    rotation: () => ask<RotationStatus>('GET', '/v1/rotations/master'),
    addHost: async (host, body = {}) => (await ask<AddHostAnswer>('POST', '/v1/hosts', { host, ...body })).token ?? '',
    stateOf: agents.stateOf,
    write: agents.write,
    startAgent: agents.start,
    enrolAgent: async (id) => {
      const token = fleet.write(`${id}.token`, await fleet.addHost(id));
      const child = fleet.startAgent(id, '--enrol', token);
      await wait(`${id} has proven a version`, async () => (await fleet.host(id)).proven['master'] !== undefined);
      return child;
    },
    agentStatus: agents.status,
    store: () => {
      const store = openStore(fleet.files.database, fleet.files.kek);
      stores.push(store);
      return store;
    },
    waitUntil: wait,
    story,
    close: async () => {
      for (const store of stores) store.close();
      await Promise.all(hubs.map((child) => child.kill('SIGKILL')));
      await agents.close();
    },
  };

  try {
    const made = await run(['hub', 'init', '--dir', hubDir, '--listen', `127.0.0.1:${port}`, '--json']);
    if (made.code !== 0) throw new Error(`hub init: ${made.stderr}`);
    await fleet.startHub();
    if (master !== null) await makeMaster(fleet, master);
  } catch (error) {
    await fleet.close();
    throw error;
  }
  return fleet;
}

/** What the operator was shown once. */
export function readToken(text: string): ReturnType<typeof parseEnrolmentToken> {
  return parseEnrolmentToken(text);
}

export function readLog(child: Child): readonly Readonly<Record<string, unknown>>[] {
  return child
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

export function readHubRootFile(fleet: Fleet): HubRootFile {
  return parseHubRootFile(readFileSync(fleet.files.hubRoot));
}

async function makeMaster(fleet: Fleet, master: Uint8Array | undefined): Promise<void> {
  const args =
    master === undefined ? ['create', 'master'] : ['import', 'master', '--file', fleet.write('master', master)];
  const made = await fleet.rollcall('secret', ...args);
  if (made.code !== 0) throw new Error(made.stderr);
}

async function exchangePlain(port: number): Promise<{ readonly text: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  return { text: await answer.text() };
}

/**
 * Below the ports that Linux gives to whoever connects: what listens here a moment later must not find that some client has got the
 * port meanwhile, of which there are many while two of these tests run.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(12_000, 32_000);
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free between 12000 and 32000');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
