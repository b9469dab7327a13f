/** A fleet with a shared token: two hosts that listen and one that does not, each with a file that its agent keeps for callers. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RotationStatus, SecretRow } from '@rollcall/wire';
import type { Child } from './child.ts';
import { exchange } from './exchange.ts';
import { createFleet, type Fleet, freePort } from './fleet.ts';
import { createRecorder } from './recorder.ts';

/** Those that take the token from callers. */
export const push = ['a', 'b'] as const;
export const hosts = ['a', 'b', 'c'] as const;
export type HostName = (typeof hosts)[number];
export type VerifierName = 'hub' | (typeof push)[number];
export const verifierNames: readonly VerifierName[] = ['hub', ...push];

export interface TokenFleet {
  readonly fleet: Fleet;
  /** The value that the fleet had before Rollcall. */
  readonly first: string;
  /** What the file of that host's agent tells a caller to send now. */
  readonly told: (host: HostName) => string;
  /** The newest value that has come to that host, told to be sent or not. */
  readonly newest: (host: HostName) => string;
  /** The status of an answer. Rejects where there is none. */
  readonly ask: (verifier: VerifierName, token: string, as?: AskAs) => Promise<number>;
  readonly agent: (host: HostName) => Child;
  /** Every process of an agent that ever ran here. */
  readonly agents: () => readonly Child[];
  /** A later start, after the agent has ended. */
  readonly startAgent: (host: HostName) => void;
  readonly rotation: () => Promise<RotationStatus>;
  readonly versions: () => Promise<SecretRow['versions']>;
  readonly start: (body?: object) => Promise<RotationStatus>;
  readonly advance: () => Promise<RotationStatus>;
  /** With everything that is missing when it does not come. */
  readonly waitForPhase: (phase: RotationStatus['rotation']['phase']) => Promise<RotationStatus>;
  readonly waitForGate: () => Promise<RotationStatus>;
}

export interface AskAs {
  readonly localAddress?: string;
  readonly userAgent?: string;
}

const PATIENCE = { withinMs: 60_000 };

export async function createTokenFleet(quietWindow: string): Promise<TokenFleet> {
  const fleet = await createFleet({ hubFlags: ['--beat', '200ms', '--quiet-window', quietWindow] });
  try {
    return await furnish(fleet);
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

async function furnish(fleet: Fleet): Promise<TokenFleet> {
  const calls = createRecorder();
  const started: Child[] = [];
  const running = new Map<HostName, Child>();
  const ports = new Map<string, number>([['hub', fleet.port]]);
  for (const host of push) ports.set(host, await freePort());

  const run = (host: HostName, ...flags: readonly string[]) => {
    const port = ports.get(host);
    const listen = port === undefined ? [] : ['--listen', `127.0.0.1:${port}`];
    const child = fleet.startAgent(host, '--config', join(fleet.dir, `${host}.yaml`), ...listen, ...flags);
    running.set(host, child);
    started.push(child);
  };
  const read = (host: HostName, name: string) => readFileSync(join(fleet.dir, 'for-callers', host, name), 'utf8');
  const rotation = () => fleet.ask<RotationStatus>('GET', '/v1/rotations/fleet');

  const world: TokenFleet = {
    fleet,
    first: 'what-the-fleet-has-always-had',
    told: (host) => read(host, 'present'),
    newest: (host) => {
      try {
        return read(host, 'next');
      } catch {
        return read(host, 'present');
      }
    },
    ask: async (verifier, token, { localAddress, userAgent = 'test' } = {}) => {
      const path = verifier === 'hub' ? '/v1/whoami' : '/v1/echo';
      const to = { port: ports.get(verifier) ?? 0, ...(localAddress === undefined ? {} : { localAddress }) };
      const headers = [
        ['X-Node-Token', token],
        ['User-Agent', userAgent],
      ] as const;
      return (await exchange(to, { method: 'GET', path, headers }, calls)).status;
    },
    agent: (host) => {
      const child = running.get(host);
      if (child === undefined) throw new Error(`${host} was not started`);
      return child;
    },
    agents: () => started,
    startAgent: (host) => run(host),
    rotation,
    versions: async () => (await fleet.ask<SecretRow>('GET', '/v1/secrets/fleet')).versions,
    start: (body = {}) => fleet.ask<RotationStatus>('POST', '/v1/rotations', { secret: 'fleet', ...body }),
    advance: () => fleet.ask<RotationStatus>('POST', '/v1/rotations/fleet/advance', {}),
    waitForPhase: (phase) =>
      untilStatus(fleet, rotation, `the rotation is ${phase}`, (status) => status.rotation.phase === phase),
    waitForGate: () => untilStatus(fleet, rotation, 'the gate is open', ({ gate }) => gate.open),
  };

  mkdirSync(join(fleet.dir, 'for-callers'), { mode: 0o700 });
  for (const host of hosts) {
    const path = join(fleet.dir, 'for-callers', host);
    fleet.write(`${host}.yaml`, `sinks:\n  - name: callers\n    path: ${path}\n    secret: fleet\n`);
    const port = ports.get(host);
    const reach = port === undefined ? {} : ({ reach: 'push', address: `127.0.0.1:${port}` } as const);
    run(host, '--enrol', fleet.write(`${host}.token`, await fleet.addHost(host, reach)));
  }
  const file = fleet.write('fleet-token', `${world.first}\n`);
  const imported = await fleet.rollcall('secret', 'import', 'fleet', '--file', file, '--holders', ...hosts);
  if (imported.code !== 0) throw new Error(imported.stderr);
  await fleet.waitUntil(
    'everybody holds the token, and takes it',
    async () => {
      const asked = verifierNames.map((verifier) => world.ask(verifier, world.first));
      const statuses = await Promise.all(asked);
      return statuses.every((status) => status === 200) && hosts.every((host) => world.told(host) === world.first);
    },
    PATIENCE,
  );
  return world;
}

async function untilStatus(
  fleet: Fleet,
  rotation: () => Promise<RotationStatus>,
  what: string,
  isThere: (status: RotationStatus) => boolean,
): Promise<RotationStatus> {
  let last: RotationStatus | undefined;
  const probe = async () => {
    last = await rotation();
    return isThere(last) && last;
  };
  const story = () => `${JSON.stringify(last, null, 1)}\n${fleet.story()}`;
  return fleet.waitUntil(what, probe, { ...PATIENCE, story });
}
